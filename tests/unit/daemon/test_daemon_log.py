from __future__ import annotations

import logging
from pathlib import Path

from cairn.daemon.lifecycle import start_log
from cairn.runtime import StateFolder


def test_the_log_holds_no_secret_that_an_error_quotes(tmp_path: Path) -> None:
    token = "gh" + "p_" + "Q2W3e4R5t6Z7u8I9" * 2 + "o0P1"
    folder = StateFolder(tmp_path / "state")
    folder.path.mkdir()
    root, level = logging.getLogger(), logging.getLogger().level
    before = list(root.handlers)
    try:
        start_log(folder)
        logging.getLogger("cairn.hooks").warning("an event is dropped: there is no agent %s", token)
    finally:
        root.setLevel(level)
        for handler in set(root.handlers) - set(before):
            root.removeHandler(handler)
            handler.close()
    logged = folder.log.read_text()
    assert token not in logged
    assert "there is no agent [redacted: github-token]" in logged
