"""Whatever was saved before a question is in the daemon's answer, or the answer says that it is from before."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from cairn.daemon.app import Application
from cairn.workspace import Workspace
from serving import TOKEN, make_app

Git = Callable[..., str]
Search = Callable[[str], list[str]]
CODE = "def {}(price):\n    return price / 2\n"


@pytest.fixture
def root(checkout: Path, git: Git) -> Path:
    """A project below the top of a checkout, with two branches."""
    root = checkout / "shop"
    (root / "lib" / "inner").mkdir(parents=True)
    (root / "money.py").write_text(CODE.format("total"))
    (root / "lib" / "tax.py").write_text(CODE.format("tax"))
    (root / "lib" / "inner" / "rate.py").write_text(CODE.format("rate"))
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "one")
    git(checkout, "checkout", "-q", "-b", "other")
    (root / "other.py").write_text(CODE.format("elsewhere"))
    (root / "money.py").write_text(CODE.format("grand_total"))
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "two")
    git(checkout, "checkout", "-q", "-")
    return root


@pytest.fixture
def app(root: Path, tmp_path: Path) -> Iterator[Application]:
    with Workspace.open(root) as workspace:
        workspace.index()
    found = make_app(tmp_path / "state", root)
    yield found
    assert found.daemon.projects.close()


def post(app: Application, query: str) -> dict[str, object]:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:37800") as client:
            headers = {"authorization": f"Bearer {TOKEN}"}
            return await client.post("/api/search", headers=headers, timeout=60, json={"query": query, "limit": 50})

    document: dict[str, object] = asyncio.run(send()).json()
    return document


@pytest.fixture
def search(app: Application) -> Search:
    """Return the files in which a name is defined, once an answer does not say that it is from before."""

    def find(name: str) -> list[str]:
        for _ in range(20):
            document = post(app, name)
            notes, code = document.get("notes", ()), document["code"]
            assert isinstance(notes, list | tuple)
            assert isinstance(code, list)
            if not any("from before" in note or "so far" in note for note in notes):
                return sorted(hit["filepath"] for hit in code if hit["name"] == name)
        raise AssertionError(notes)

    assert find("total") == ["money.py"]  # from now on the project is watched
    return find


def write(file: Path, name: str) -> None:
    file.write_text(CODE.format(name))


def test_edits_in_quick_succession_are_each_found_by_the_next_search(root: Path, search: Search) -> None:
    for number in range(12):
        write(root / "lib" / "tax.py", f"tax_{number}")
        assert search(f"tax_{number}") == ["lib/tax.py"]
    assert search("tax_0") == []


def test_a_renamed_and_a_deleted_file_are_where_they_are(root: Path, search: Search) -> None:
    os.rename(root / "lib" / "tax.py", root / "lib" / "levy.py")
    assert search("tax") == ["lib/levy.py"]
    (root / "lib" / "levy.py").unlink()
    assert search("tax") == []
    os.rename(root / "money.py", root.parent / "money.py")  # out of the project
    assert search("total") == []


def test_a_file_that_took_the_place_of_another_is_found(root: Path, search: Search) -> None:
    write(root / "money.py.tmp", "discount")  # as editors save
    os.replace(root / "money.py.tmp", root / "money.py")
    assert search("discount") == ["money.py"]


def test_files_in_new_folders_are_found(root: Path, search: Search) -> None:
    (root / "new" / "deep" / "deeper").mkdir(parents=True)
    write(root / "new" / "deep" / "deeper" / "a.py", "discount")
    assert search("discount") == ["new/deep/deeper/a.py"]
    write(root / "new" / "b.py", "rebate")
    assert search("rebate") == ["new/b.py"]
    shutil.copytree(root / "new", root / "copy")
    write(root / "copy" / "b.py", "refund")
    assert search("refund") == ["copy/b.py"]


def test_files_of_renamed_and_deleted_folders_are_where_they_are(root: Path, search: Search) -> None:
    os.rename(root / "lib", root / "library")
    assert search("rate") == ["library/inner/rate.py"]
    write(root / "library" / "inner" / "rate.py", "quota")
    assert search("quota") == ["library/inner/rate.py"]
    shutil.rmtree(root / "library")
    assert search("quota") == []
    (root / "library").mkdir()
    write(root / "library" / "rate.py", "rate")
    assert search("rate") == ["library/rate.py"]


def test_after_a_checkout_of_another_branch_its_files_are_found(root: Path, search: Search, git: Git) -> None:
    git(root, "checkout", "-q", "other")
    assert search("elsewhere") == ["other.py"]
    assert search("grand_total") == ["money.py"]
    git(root, "checkout", "-q", "-")
    assert search("elsewhere") == []
    assert search("total") == ["money.py"]


def test_a_file_that_changed_its_rights_or_its_time_is_still_found(root: Path, search: Search) -> None:
    (root / "money.py").chmod(0o755)
    assert search("total") == ["money.py"]
    os.utime(root / "money.py", (1, 1))
    assert search("total") == ["money.py"]


@pytest.mark.parametrize("rules", [".gitignore", "lib/.cairnignore", "../.gitignore", "../.git/info/exclude"])
def test_rules_of_what_counts_hold_from_the_next_search_on(rules: str, root: Path, search: Search) -> None:
    assert search("tax") == ["lib/tax.py"]
    write(root / "lib" / "draft.py", "draft")
    assert search("draft") == ["lib/draft.py"]
    with (root / rules).open("a") as file:
        file.write("draft.py\n")
    assert search("draft") == []


def test_a_file_that_git_begins_to_track_though_it_is_ignored_is_found(root: Path, search: Search, git: Git) -> None:
    (root / ".gitignore").write_text("draft.py\n")
    write(root / "draft.py", "draft")
    assert search("draft") == []
    git(root, "add", "-f", "draft.py")
    assert search("draft") == ["draft.py"]
    git(root, "rm", "-q", "--cached", "draft.py")
    assert search("draft") == []


def test_edits_are_found_while_the_watcher_is_busy_with_others(root: Path, search: Search) -> None:
    is_over = threading.Event()

    def disturb() -> None:
        number = 0
        while not is_over.wait(0.01):
            number += 1
            write(root / "lib" / f"noise_{number % 7}.py", f"noise_{number}")

    noise = threading.Thread(target=disturb)
    noise.start()
    try:
        for number in range(5):
            write(root / "money.py", f"total_{number}")
            assert search(f"total_{number}") == ["money.py"]
    finally:
        is_over.set()
        noise.join()


def delete_while_in_use(folder: Path) -> None:
    """Delete a folder into which somebody may write at the same time, as a user does: again until it is gone."""
    for _ in range(20):
        with suppress(OSError):
            shutil.rmtree(folder)
            return
    raise AssertionError(f"{folder} is still there")


def test_an_index_that_is_deleted_while_the_project_is_watched_is_built_again(root: Path, search: Search) -> None:
    delete_while_in_use(root / ".cairn")
    assert search("total") == ["money.py"]
    write(root / "money.py", "discount")
    assert search("discount") == ["money.py"]


class Vouching:
    """A follower who says that the index is up to date."""

    def catch_up(self, *, waits: bool = True) -> str:
        del waits
        return ""


def test_where_a_follower_vouches_for_the_index_no_file_is_compared(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.index()
        workspace.upkeep.rely_on(Vouching())
        workspace.refresh()  # nothing was asked yet, so nothing is relied on
        workspace.search("total")
        write(root / "money.py", "discount")
        assert workspace.refresh() == ""
        assert workspace.search("discount").code == ()
        workspace.index()
        assert [hit.name for hit in workspace.search("discount").code][:1] == ["discount"]


def test_where_a_follower_vouches_for_the_index_no_file_is_compared_for_the_graph(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.index()
        workspace.search("total")
        write(root / "money.py", "discount")
        assert workspace.graph.current().code.checkout.changed
        workspace.upkeep.rely_on(Vouching())
        assert not workspace.graph.current().code.checkout.changed
        workspace.index()
        assert workspace.graph.callees("discount").symbol.path == "money.py"
