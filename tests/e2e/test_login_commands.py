"""`cairn login` and `cairn logout` as a developer uses them, with a server that a test scripts."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scripted_server import Asked, Reply, scripted

TOKEN = "cairn_of_ada"
ROW = {"project": "acme/shop", "branch": "main", "default": True, "commit": "a" * 40, "published_at": "2026-01-01"}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    environment |= {name: value for name, value in os.environ.items() if name.startswith("COVERAGE")}

    def cairn(*arguments: str, stdin: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [sys.executable, "-m", "cairn", *arguments],
            input=stdin, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert result.returncode == code, result.stderr
        assert TOKEN not in result.stdout + result.stderr
        assert "Traceback" not in result.stderr
        return result

    return cairn


def serve(asked: Asked) -> Reply:
    """Answer as a team's server without the device flow does."""
    if asked.path != "/api/projects":
        return Reply(404, raw=b"Not Found")
    if asked.authorization != f"Bearer {TOKEN}":
        return Reply(401, {"code": "access", "message": "no", "hint": ""})
    return Reply(document={"projects": [ROW, {**ROW, "branch": "next", "default": False}]})


def test_a_token_of_an_operator_is_kept_until_one_signs_out(run: Run, tmp_path: Path) -> None:
    assert "cairn login URL" in run("login", code=1).stderr
    with scripted(serve) as server:
        shown = run("login", f"{server.url}/", "--token-stdin", stdin=f"{TOKEN}\n").stdout
        assert shown == f"Signed in to 127.0.0.1:{server.port}: you may read 1 project.\n"
        kept = tmp_path / "state" / "cairn" / "servers.json"
        assert TOKEN in kept.read_text()
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600

        assert run("login").stdout == f"{server.url}  1 project\n  acme/shop  main  {'a' * 12}\n"
        (listed,) = json.loads(run("login", "--json").stdout)["servers"]
        row = {"project": "acme/shop", "branch": "main", "commit": "a" * 40}
        assert listed == {"url": server.url, "projects": [row], "problem": None}
    away = run("login")
    assert "does not answer" in away.stdout
    assert "try:" in away.stderr
    run("logout", server.url)
    assert not kept.exists()
    assert "error[not-found]" in run("logout", server.url, code=1).stderr


def test_a_wrong_token_is_not_kept(run: Run, tmp_path: Path) -> None:
    with scripted(serve) as server:
        refused = run("login", server.url, "--token-stdin", stdin="cairn_wrong", code=2)
    assert "error[sign-in]" in refused.stderr
    assert f"try: cairn login {server.url}" in refused.stderr
    assert "cairn_wrong" not in refused.stderr
    assert not (tmp_path / "state" / "cairn" / "servers.json").exists()


def test_without_a_terminal_a_token_is_asked_for_on_stdin(run: Run) -> None:
    with scripted(serve) as server:
        assert (
            f"try: give it on stdin: cairn login {server.url} --token-stdin" in run("login", server.url, code=2).stderr
        )


def test_a_page_lets_one_in_where_the_server_has_one(run: Run) -> None:
    def answer(asked: Asked) -> Reply:
        if asked.path == "/api/login/device":
            page = "https://login.example.org/device"
            return Reply(
                document={"device_code": "d", "user_code": "WDJB-MJHT", "verification_uri": page, "interval": 0.01}
            )
        if asked.path == "/api/login/token":
            return Reply(document={"access_token": TOKEN, "token_type": "Bearer"})
        return serve(asked)

    with scripted(answer) as server:
        shown = run("login", server.url)
    assert "Visit https://login.example.org/device and enter the code WDJB-MJHT" in shown.stderr
    assert "you may read 1 project" in shown.stdout


def test_a_token_is_not_sent_where_others_could_read_it(run: Run) -> None:
    refused = run("login", "http://cairn.example.org", "--token-stdin", stdin=TOKEN, code=2)
    assert "over https only" in refused.stderr


def test_a_command_without_a_project_of_a_team_imports_nothing_for_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tax.py").write_text("def tax(price):\n    return price\n")
    with scripted(serve) as server:
        run("login", server.url, "--token-stdin", stdin=TOKEN)
        program = (
            "import sys; from cairn.cli.main import main; main(sys.argv[1:]); "
            "print(*(name for name in sys.modules if name.startswith(('cairn.remote', 'httpx'))), file=sys.stderr)"
        )
        n_asked = len(server.asked)
        for command in (("index",), ("search", "tax"), ("callers", "tax"), ("fetch", "tax.py#tax")):
            arguments = [sys.executable, "-c", program, *command, "-C", str(tmp_path)]
            environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CAIRN_DAEMON": "0"}
            environment |= {"XDG_STATE_HOME": str(tmp_path / "state")}
            shown = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=120, check=True)
            assert shown.stderr.splitlines()[-1] == ""
        assert len(server.asked) == n_asked


def test_nobody_at_the_address_is_an_error_of_the_server(run: Run) -> None:
    with scripted(serve) as server:
        url = server.url
    assert "error[team-away]" in run("login", url, "--token-stdin", stdin=TOKEN, code=3).stderr


@pytest.fixture
def shop(tmp_path: Path, run: Run) -> str:
    """A project on this machine that is indexed."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cart.py").write_text("def price(item):\n    return item.cents\n")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    run("index", "-C", str(folder))
    return str(folder)


def test_sign_ins_that_cannot_be_trusted_do_not_end_a_search_of_all_projects(
    run: Run, shop: str, tmp_path: Path
) -> None:
    with scripted(serve) as server:
        run("login", server.url, "--token-stdin", stdin=TOKEN)
        (tmp_path / "state" / "cairn" / "servers.json").chmod(0o666)
        found = json.loads(run("search", "price", "--project", "all", "--no-daemon", "--json", "-C", shop).stdout)
    assert [hit["filepath"] for hit in found["code"]] == ["cart.py"]
    assert any("servers.json" in note for note in found["notes"])


def test_a_project_that_nobody_knows_is_asked_for_once(run: Run, shop: str) -> None:
    with scripted(serve) as server:
        run("login", server.url, "--token-stdin", stdin=TOKEN)
        run("daemon", "start")
        try:
            n_asked = len(server.asked)
            assert "error[project]" in run("search", "price", "--project", "acme/none", "-C", shop, code=2).stderr
            assert len(server.asked) == n_asked + 1
        finally:
            run("daemon", "stop")
