"""Projects whose embeddings come from a provider: a real index, and a server on this machine that fails at will."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cairn.answers import Answer
from cairn.config import Settings
from cairn.errors import IndexLockedError
from cairn.index.state_dir import new_name
from cairn.model_settings import EmbeddingSettings, ModelSettings
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.workspace import Workspace
from embedding_server import EmbeddingServer, Reply
from interrupts import CAIRN

KEY = "sk-this-is-secret-0123456789"
N_FILES = 12


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as one:
        yield one


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Twelve files with two functions each."""
    folder = tmp_path / "project"
    folder.mkdir()
    for number in range(N_FILES):
        write(folder, number)
    return folder


def write(folder: Path, number: int, body: str = "") -> None:
    word = "abcdefghijklmnop"[number] * 4
    lines = "".join(f"    {word}_{step} = compute({step})\n" for step in range(12))
    (folder / f"part_{word}.py").write_text(
        f'def load_{word}(path):\n    """Load the {word} table."""\n{lines}    return {word}_1\n\n\n'
        f"def save_{word}(rows):\n{lines}    return rows{body}\n"
    )


def ollama(server: EmbeddingServer, model: str = "nomic-embed-text", **changes: object) -> EmbeddingSettings:
    base = EmbeddingSettings("ollama", model, server.url, batch_size=4, concurrency=1)
    return replace(base, **changes)  # type: ignore[arg-type] # any setting


def opened(root: Path, embedding: EmbeddingSettings) -> Workspace:
    return Workspace.open(root, settings=Settings(embedding=embedding))


def status_of(workspace: Workspace) -> dict[str, Any]:
    """Return what is known of the wanted model."""
    models: Any = workspace.upkeep.status()["embedding"]
    first: dict[str, Any] = models[0]
    return first


def answering(workspace: Workspace) -> dict[str, bool]:
    """Return the models by name, in the order in which they are asked, and whether each one answers."""
    models: Any = workspace.upkeep.status()["embedding"]
    return {one["model"]: one["active"] for one in models}


def note_of(answer: Answer) -> str:
    (note,) = answer.notes
    return note


# -- the usual way ----------------------------------------------------------------------------------------------------


def test_a_configured_model_answers_once_it_covers_everything(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        (report,) = workspace.upkeep.embed()
        assert (report.embedded, report.covered, report.total) == (24, 24, 24)
        assert not report.error
        assert all(text.startswith("search_document: part_") for text in server.texts)
        assert len(server.texts) == 24
        server.asked.clear()
        answer = workspace.search("load the cccc table")
    assert server.texts == ["search_query: load the cccc table"]
    assert answer.notes == ()
    assert answer.code[0].name == "load_cccc"


def test_the_text_of_a_chunk_is_natural_and_says_where_it_is(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
    text = next(text for text in server.texts if "def load_cccc" in text)
    head = "search_document: part_cccc.py\nload_cccc\ndef load_cccc(path):\n"
    assert text.startswith(head)
    assert text.count("Load the cccc table.") == 1


def test_a_second_run_sends_nothing(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
        server.asked.clear()
        (report,) = workspace.upkeep.embed()
        assert (report.embedded, report.covered) == (0, 24)
        (root / "part_aaaa.py").rename(root / "moved.py")
        workspace.index()
        workspace.upkeep.embed()
    assert server.asked == []


def test_an_edit_sends_the_chunk_that_changed(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
        server.asked.clear()
        write(root, 3, body=" or []")
        workspace.index()
        (report,) = workspace.upkeep.embed()
        assert (report.embedded, report.reused, report.covered) == (1, 1, 24)
        assert workspace.search("save dddd rows").notes == ()
    assert "return rows or []" in server.texts[0]


def test_vectors_outlive_an_index_that_is_built_anew(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
        server.asked.clear()
        workspace.index(full=True)
        assert "cover 0 of 12 files" in note_of(workspace.search("load the cccc table"))
        (report,) = workspace.upkeep.embed()
        assert (report.embedded, report.reused) == (0, 24)
        server.asked.clear()
        (report,) = workspace.upkeep.embed(full=True)
        assert report.embedded == 24


def test_many_batches_become_few_files(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server, batch_size=1)) as workspace:
        for number in range(22):
            write(root, 0, body=f" or [{number}]")
            workspace.index()
            workspace.upkeep.embed()
        files = list(workspace.state.derived.glob("*.vec"))
        assert len(files) <= 17
        assert workspace.search("load the cccc table").code[0].name == "load_cccc"
        assert workspace.search("load the cccc table").notes == ()


def test_a_copy_in_another_folder_of_the_view_needs_no_vector_of_its_own(root: Path, server: EmbeddingServer) -> None:
    (root / "copy.py").write_bytes((root / "part_aaaa.py").read_bytes())
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        (report,) = workspace.upkeep.embed()
        assert (report.embedded, report.covered, report.total) == (24, 26, 26)
        assert workspace.search("load the cccc table").notes == ()


# -- interruptions ----------------------------------------------------------------------------------------------------


def test_a_failure_keeps_what_was_committed_and_the_next_run_goes_on(root: Path, server: EmbeddingServer) -> None:
    server.replies.extend([Reply(), Reply(), Reply(404, '{"error": "model unloaded"}')])
    with opened(root, ollama(server, batch_size=2)) as workspace:
        workspace.index()
        (report,) = workspace.upkeep.embed()
        assert report.code == "provider"
        assert "model unloaded" in report.error
        assert 0 < report.covered < report.total
        assert "model unloaded" in status_of(workspace)["error"]
        sent, done = set(server.texts[:4]), report.covered
        server.asked.clear()
        (report,) = workspace.upkeep.embed()
        assert not report.error
        assert report.embedded == 24 - done
        assert not sent & set(server.texts)
        assert status_of(workspace)["error"] == ""


def run(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cairn", *arguments, "-C", str(root)]
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False
    )


def of_environment(server: EmbeddingServer, tmp_path: Path, **more: str) -> dict[str, str]:
    return {
        "CAIRN_EMBEDDING_PROVIDER": "ollama",
        "CAIRN_EMBEDDING_MODEL": "nomic-embed-text",
        "CAIRN_EMBEDDING_URL": server.url,
        "CAIRN_EMBEDDING_BATCH_SIZE": "2",
        "CAIRN_EMBEDDING_CONCURRENCY": "1",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        **more,
    }


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl-C"])
def test_an_interrupted_run_loses_a_batch_at_most(
    root: Path, server: EmbeddingServer, tmp_path: Path, how: signal.Signals
) -> None:
    server.replies.extend(Reply(delay=0.15) for _ in range(100))
    environment = of_environment(server, tmp_path)
    command = [*CAIRN, "index", str(root)]
    with subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        wait_for(lambda: len(server.asked) >= 6)
        process.send_signal(how)
        _, told = process.communicate(timeout=120)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert b"continue with: cairn index" in told
    server.replies.clear()
    answered = len(server.asked) - 1  # the last one may have been cut off
    before = set(server.texts)
    server.asked.clear()
    done = run(root, "index", "--json", **environment)
    (report,) = json.loads(done.stdout)["embedding"]
    assert report["covered"] == report["total"] == 24
    assert len(before & set(server.texts)) <= 2 * (2 + 1)  # two of a batch, and two of one under way
    assert report["embedded"] <= 24 - 2 * answered + 4


def wait_for(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_damaged_file_of_vectors_is_noticed_and_embedded_again(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
        victim = max(workspace.state.derived.glob("*.vec"), key=lambda file: file.stat().st_size)
        content = bytearray(victim.read_bytes())
        content[-1] ^= 0xFF
        victim.write_bytes(content)
    with opened(root, ollama(server)) as workspace:
        answer = workspace.search("load the cccc table")
        assert "answered with the bundled model" in note_of(answer)
        assert answer.code[0].name == "load_cccc"
        (report,) = workspace.upkeep.embed()
        assert 0 < report.embedded < 24
        assert report.covered == 24
        assert workspace.search("load the cccc table").notes == ()


def test_litter_of_a_killed_run_is_removed(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        litter = workspace.state.overlay(new_name())
        litter.write_bytes(b"x")
        workspace.upkeep.embed()
        assert not litter.exists()
        kept = set(workspace.state.derived.glob("*.vec"))
        write(root, 0, body=" or 1")
        workspace.index()
        assert set(workspace.state.derived.glob("*.vec")) == kept


def test_two_processes_do_not_embed_at_once(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        with (
            write_lock(workspace.state.embedding_lock, 0.0, INDEX),
            pytest.raises(IndexLockedError, match="another process is embedding"),
        ):
            workspace.upkeep.embed()
    assert server.asked == []


def test_the_index_can_be_written_while_a_provider_works(root: Path, server: EmbeddingServer, tmp_path: Path) -> None:
    server.may_answer.clear()
    environment = of_environment(server, tmp_path)
    command = [sys.executable, "-m", "cairn", "index", str(root)]
    with subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        wait_for(lambda: len(server.asked) >= 1)
        write(root, 1, body=" or 1")
        with opened(root, EmbeddingSettings()) as workspace:
            assert workspace.index().changed == 1
        assert process.poll() is None
        server.may_answer.set()
        process.wait(timeout=120)
    with opened(root, ollama(server)) as workspace:
        workspace.upkeep.embed()
        assert workspace.search("load the cccc table").notes == ()


# -- when a provider is down, or not ready ----------------------------------------------------------------------------


def test_what_is_not_covered_is_answered_by_the_bundled_model_and_said(root: Path, server: EmbeddingServer) -> None:
    server.replies.extend([Reply(), Reply(404, '{"error": "gone"}')])
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        assert note_of(workspace.search("load the cccc table")) == (
            "embeddings by ollama:nomic-embed-text cover 0 of 12 files; answered with the bundled model; "
            "finish with: cairn index"
        )
        workspace.upkeep.embed()
        asked = len(server.asked)
        answer = workspace.search("load the cccc table")
        assert answer.code[0].name == "load_cccc"
        assert "cover 0 of 12" not in note_of(answer)
        assert len(server.asked) == asked


def test_a_provider_that_is_down_at_search_time_is_replaced_by_the_bundled_model(root: Path) -> None:
    with EmbeddingServer() as server, opened(root, ollama(server)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
    with opened(root, ollama(server)) as workspace:
        answer = workspace.search("load the cccc table")
        assert answer.code[0].name == "load_cccc"
        assert note_of(answer).startswith("ollama:nomic-embed-text: nothing answers at http://127.0.0.1:")
        assert note_of(answer).endswith("answered with the bundled model")
        assert workspace.search('"compute(3)"', mode="auto").notes == ()  # an exact search needs no model


def test_a_provider_that_did_not_answer_is_left_alone_for_a_while(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server, query_timeout_seconds=0.2)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
        server.asked.clear()
        server.replies.append(Reply(delay=1.0))
        for _ in range(5):
            assert "no answer within 0.2 s" in note_of(workspace.search("load the cccc table"))
        assert len(server.asked) == 1


def test_the_fallback_answers_with_its_own_vectors(root: Path, server: EmbeddingServer) -> None:
    with EmbeddingServer(32) as second:
        other = ModelSettings("openai", "local-model", f"{second.url}/v1", batch_size=4)
        with opened(root, ollama(server, fallbacks=(other,))) as workspace:
            workspace.index()
            first, fallback = workspace.upkeep.embed()
            assert first.covered == fallback.covered == 24
            server.stop()
            second.asked.clear()
            answer = workspace.search("load the cccc table")
            assert note_of(answer).endswith("; answered with openai:local-model")
            assert second.texts == ["load the cccc table"]
            assert answer.code[0].name == "load_cccc"


def test_a_fallback_is_completed_when_the_first_fails(root: Path) -> None:
    with EmbeddingServer() as dead:
        pass
    with EmbeddingServer() as second:
        other = ModelSettings("ollama", "all-minilm", second.url)
        with opened(root, ollama(dead, fallbacks=(other,))) as workspace:
            workspace.index()
            first, fallback = workspace.upkeep.embed()
            assert first.error
            assert fallback.covered == 24
            note = note_of(workspace.search("load the cccc table"))
    assert note.startswith("embeddings by ollama:nomic-embed-text cover 0 of 12 files; answered with ollama:all-minilm")


# -- another model ----------------------------------------------------------------------------------------------------


def test_the_previous_model_answers_until_the_new_one_covers_everything(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        assert answering(workspace) == {"ollama:nomic-embed-text": False, "bundled": True}
        workspace.upkeep.embed()
        assert answering(workspace) == {"ollama:nomic-embed-text": True, "bundled": False}
        old_files = set(workspace.state.derived.glob("*.vec"))
    with EmbeddingServer(48) as second, opened(root, ollama(second, "mxbai-embed-large")) as workspace:
        server.asked.clear()
        assert note_of(workspace.search("load the cccc table")) == (
            "embeddings by ollama:mxbai-embed-large cover 0 of 12 files; answered with the previous model "
            "ollama:nomic-embed-text; finish with: cairn index"
        )
        assert len(server.texts) == 1
        second.replies.extend([Reply(), Reply(404, '{"error": "gone"}')])
        workspace.upkeep.embed()
        assert "the previous model" in note_of(workspace.search("load the cccc table"))
        assert answering(workspace) == {
            "ollama:mxbai-embed-large": False, "ollama:nomic-embed-text (previous)": True, "bundled": False,
        }  # fmt: skip
        workspace.upkeep.embed()
        assert answering(workspace) == {"ollama:mxbai-embed-large": True, "bundled": False}
        server.asked.clear()
        answer = workspace.search("load the cccc table")
        assert answer.notes == ()
        assert answer.code[0].name == "load_cccc"
        assert server.asked == []
        assert not old_files & set(workspace.state.derived.glob("*.vec"))


def test_views_share_vectors_and_a_model_is_kept_while_another_view_needs_it(
    root: Path, server: EmbeddingServer, tmp_path: Path
) -> None:
    state = root / ".cairn"
    other = tmp_path / "worktree"
    shutil.copytree(root, other)
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
    server.asked.clear()
    with Workspace.open(other, state_dir=state, settings=Settings(embedding=ollama(server))) as workspace:
        workspace.index()
        workspace.upkeep.embed()
        assert server.asked == []
        assert workspace.search("load the cccc table").notes == ()
        write(other, 5, body=" or 1")
        workspace.index()
        workspace.upkeep.embed()
    with opened(root, ollama(server, "mxbai-embed-large")) as workspace:
        workspace.upkeep.embed()
        assert workspace.search("load the cccc table").notes == ()
    with Workspace.open(other, state_dir=state, settings=Settings(embedding=ollama(server))) as workspace:
        assert workspace.search("load the cccc table").notes == ()


def test_a_server_that_changes_its_model_under_the_same_name_is_noticed(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
    server.n_dimensions = 48
    with opened(root, ollama(server)) as workspace:
        assert "now returns vectors of 48 dimensions: cairn index --full" in note_of(
            workspace.search("load the cccc table")
        )
        write(root, 0, body=" or 1")
        workspace.index()
        (report,) = workspace.upkeep.embed()
        assert "48 dimensions where it returned 64" in report.error
        assert "cairn index --full" in report.hint
        workspace.upkeep.embed(full=True)
        assert workspace.search("load the cccc table").notes == ()


# -- estimates --------------------------------------------------------------------------------------------------------


def test_an_estimate_asks_nobody_and_comes_before_a_paid_run(root: Path, server: EmbeddingServer) -> None:
    paid = ollama(server, price_per_million_tokens=100.0)
    with opened(root, paid) as workspace:
        (before,) = workspace.upkeep.estimate()
        workspace.index()
        (known,) = workspace.upkeep.estimate()
        assert server.asked == []
        assert (known.chunks, known.missing_files) == (24, 12)
        assert before.missing_files == 12
        characters = sum(len(file.read_text()) for file in root.glob("*.py"))
        assert known.tokens == pytest.approx(characters / 4, rel=0.3)
        assert known.cost == pytest.approx(known.tokens / 1e4)
        assert before.tokens == pytest.approx(known.tokens, rel=0.3)
        assert not known.measured
        workspace.upkeep.embed()
        (done,) = workspace.upkeep.estimate()
        assert (done.chunks, done.cost, done.measured) == (0, 0.0, True)


def test_requests_a_minute_bound_the_time(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server, requests_per_minute=1)) as workspace:
        workspace.index()
        assert workspace.upkeep.estimate()[0].seconds == 360  # 24 chunks in batches of 4


def test_a_dry_run_prints_the_estimate(root: Path, server: EmbeddingServer, tmp_path: Path) -> None:
    environment = of_environment(server, tmp_path, CAIRN_EMBEDDING_PRICE_PER_MILLION_TOKENS="1000")
    done = run(root, "index", "--dry-run", **environment)
    assert "ollama:nomic-embed-text" in done.stdout
    assert "tokens (characters / 4), about $" in done.stdout
    (estimate,) = json.loads(run(root, "index", "--dry-run", "--json", **environment).stdout)["embedding"]
    assert estimate["cost"] > 0
    assert server.asked == []
    assert not (root / ".cairn" / "index.db").exists()
    done = run(root, "index", **environment)
    assert "24 chunks of 12 files to embed, an estimated" in done.stderr
    assert "about $" in done.stderr


# -- in the background ------------------------------------------------------------------------------------------------


def test_a_search_starts_one_run_in_the_background(root: Path, server: EmbeddingServer, tmp_path: Path) -> None:
    environment = of_environment(server, tmp_path)
    server.may_answer.clear()
    first = run(root, "search", "load the cccc table", **environment)
    assert "answered with the bundled model; finish with: cairn index" in first.stderr
    assert "in the background" in first.stderr
    assert "load_cccc" in first.stdout
    wait_for(lambda: len(server.asked) >= 1)
    second = run(root, "search", "load the cccc table", **environment)
    assert "in the background" not in second.stderr
    server.may_answer.set()
    with opened(root, ollama(server)) as workspace:
        wait_for(lambda: status_of(workspace)["active"])
        assert workspace.search("load the cccc table").notes == ()
    assert sum(text.startswith("search_document: ") for text in server.texts) == 24
    log = (root / ".cairn" / "embedding.log").read_text()
    assert "Embedded 24 chunks" in log


def test_the_background_can_be_turned_off(root: Path, server: EmbeddingServer, tmp_path: Path) -> None:
    environment = of_environment(server, tmp_path, CAIRN_EMBEDDING_BACKGROUND="false")
    assert "in the background" not in run(root, "search", "load the cccc table", **environment).stderr
    assert not (root / ".cairn" / "embedding.log").exists()


def test_a_search_alone_sends_nothing_to_a_place_the_user_has_not_sent_texts_to(root: Path, tmp_path: Path) -> None:
    environment = {
        "CAIRN_EMBEDDING_PROVIDER": "openai",
        "CAIRN_EMBEDDING_MODEL": "text-embedding-3-small",
        "CAIRN_EMBEDDING_URL": "https://embeddings.invalid/v1",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    done = run(root, "search", "load the cccc table", **environment)
    assert "finish with: cairn index" in done.stderr
    assert not (root / ".cairn" / "embedding.log").exists()


def test_a_provider_that_just_failed_is_not_tried_in_the_background(root: Path, tmp_path: Path) -> None:
    with EmbeddingServer() as server:
        environment = of_environment(server, tmp_path)
    failed = run(root, "index", **environment)
    assert failed.returncode == 2
    assert "error[provider]: ollama:nomic-embed-text: nothing answers" in failed.stderr
    assert "try: start it and fetch the model" in failed.stderr
    assert "Indexed 12 files" in failed.stdout
    run(root, "search", "load the cccc table", **environment)
    assert not (root / ".cairn" / "embedding.log").exists()


# -- secrets, and what is not needed ----------------------------------------------------------------------------------


def test_a_key_is_in_no_file_log_or_message(root: Path, server: EmbeddingServer, tmp_path: Path) -> None:
    environment = of_environment(
        server, tmp_path, CAIRN_EMBEDDING_PROVIDER="openai", CAIRN_EMBEDDING_MODEL="m",
        CAIRN_EMBEDDING_API_KEY_ENV="MY_MODEL_KEY", MY_MODEL_KEY=KEY,
    )  # fmt: skip
    refusal = Reply(401, f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}')
    server.replies.append(refusal)
    told = [run(root, "index", **environment)]
    assert "error[provider-key]" in told[0].stderr
    told.append(run(root, "index", "--json", **environment))
    server.replies.append(refusal)
    told.append(run(root, "search", "load the cccc table", **environment))
    told.append(run(root, "status", "--json", **environment))
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in "".join(one.stdout + one.stderr for one in told)
    files = [file for file in (root / ".cairn").rglob("*") if file.is_file()]
    assert len(files) > 3
    assert not [file for file in files if KEY.encode() in file.read_bytes()]


def test_files_that_are_not_indexed_are_not_sent(root: Path, server: EmbeddingServer) -> None:
    (root / ".cairnignore").write_text("secrets.py\n")
    (root / "secrets.py").write_text("password = 'hunter2'\n")
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
    assert not [text for text in server.texts if "hunter2" in text]


def test_a_file_that_changed_since_it_was_indexed_is_not_sent(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        write(root, 0, body=" or 'hunter2'")
        (report,) = workspace.upkeep.embed()
        assert (report.embedded, report.covered, report.error) == (22, 22, "")
    assert not [text for text in server.texts if "hunter2" in text]


@pytest.mark.parametrize("command", [("index",), ("search", "load the cccc table"), ("status",)])
def test_without_a_provider_nothing_of_providers_is_imported(root: Path, tmp_path: Path, command: tuple[str]) -> None:
    code = (
        "import sys; from cairn.cli.main import main; main(sys.argv[1:]); "
        "print('modules', *sorted(sys.modules), file=sys.stderr)"
    )
    environment = os.environ | {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    run(root, "index", **environment)
    arguments = [sys.executable, "-c", code, *command, "-C", str(root)]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=60, check=True)
    modules = set(done.stderr.splitlines()[-1].split())
    assert "cairn.workspace" in modules
    unwanted = {"httpx", "anyio", "ssl", "http.client", "keyring", "torch", "cairn.search.meaning"}
    unwanted |= {"cairn.index.embed", "cairn.index.overlay", "cairn.embedding.remote", "cairn.embedding.local"}
    if command != ("status",):
        unwanted |= {"cairn.model_settings", "cairn.model_providers", "cairn.embedding.chain"}
    assert modules & unwanted == set()


def test_blob_ids_that_went_to_other_contents_take_no_vectors_along(root: Path, server: EmbeddingServer) -> None:
    with opened(root, ollama(server)) as workspace:
        workspace.index()
        workspace.upkeep.embed()
        with closing(sqlite3.connect(workspace.state.database)) as connection:
            before = connection.execute("SELECT count(*) FROM overlay_blob").fetchone()[0]
        assert before == 12
        for number in range(N_FILES):
            (root / f"part_{'abcdefghijklmnop'[number] * 4}.py").unlink()
        for number in range(12, 16):
            write(root, number)
        workspace.index(full=True)
        with closing(sqlite3.connect(workspace.state.database)) as connection:
            assert connection.execute("SELECT count(*) FROM overlay_blob").fetchone()[0] == 0
        server.asked.clear()
        workspace.upkeep.embed()
        assert len(server.texts) == 8
        assert workspace.search("load the pppp table").code[0].name == "load_pppp"
