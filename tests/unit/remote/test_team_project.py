from __future__ import annotations

from pathlib import Path

import pytest

from cairn.errors import AmbiguousError, NotFoundError, ServerAwayError
from cairn.memory.team_memories import TeamLink, TeamMemories
from cairn.remote.memories import exchange, find_link
from cairn.remote.servers import SignIns, TeamServer
from cairn.remote.team import TeamListing, TeamProject
from cairn.runtime import StateFolder
from cairn.workspace import Workspace
from scripted_server import Reply, scripted

HERE, THERE = TeamServer("https://a.example.org", "t"), TeamServer("https://b.example.org", "t")


def project(name: str, repository: str, server: TeamServer = HERE) -> TeamProject:
    return TeamProject(name, "main", "0" * 40, repository, server)


LISTING = TeamListing(
    (
        project("acme/shop", "git.example.org/acme/shop"),
        project("acme/tools", ""),
        project("mirror/tools", "git.example.org/acme/tools", THERE),
        project("other/tools", "git.example.org/acme/tools"),
    ),
    (),
)


def test_a_project_is_found_by_any_address_of_its_repository() -> None:
    for address in ("https://ada:secret@git.example.org/acme/shop.git", "git@git.example.org:acme/shop"):
        assert find_link(LISTING, "", address) == TeamLink(HERE.url, "acme/shop")


def test_a_project_can_be_named() -> None:
    assert find_link(LISTING, "acme/tools", "") == TeamLink(HERE.url, "acme/tools")


def test_a_repository_that_no_team_has_is_no_project() -> None:
    with pytest.raises(NotFoundError, match=r"whose repository is git\.example\.org/acme/nothing"):
        find_link(LISTING, "", "https://git.example.org/acme/nothing")


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("", "it has no remote `origin`"),
        ("/srv/tools", "its remote `origin` names no host"),
        ("file:///srv/tools", "its remote `origin` names no host"),
    ],
)
def test_a_repository_whose_remote_cannot_be_matched_says_why_and_asks_for_a_name(address: str, why: str) -> None:
    with pytest.raises(NotFoundError, match=f"cannot be matched with a project of a team: {why}") as caught:
        find_link(LISTING, "", address)
    assert caught.value.hint == "name the project: cairn memories join ORGANISATION/NAME"


def test_what_several_projects_show_has_to_be_named() -> None:
    with pytest.raises(AmbiguousError, match="mirror/tools at"):
        find_link(LISTING, "", "https://git.example.org/acme/tools")


def test_a_server_that_did_not_answer_may_have_had_the_project() -> None:
    away = TeamListing((), (ServerAwayError("a.example.org does not answer"),))
    with pytest.raises(ServerAwayError):
        find_link(away, "acme/shop", "")


def test_who_may_no_longer_read_a_project_is_told_what_went_and_where_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    refusal = Reply(404, {"code": "not-found", "message": "there is no project acme/shop", "hint": "GET /api/projects"})
    (tmp_path / "shop").mkdir()
    with scripted(lambda _: refusal) as server, Workspace.open(tmp_path / "shop") as workspace:
        SignIns(StateFolder.of_user()).keep(TeamServer(server.url, "secret-token"))
        memories = TeamMemories(workspace.memory.store)
        memories.join(TeamLink(server.url, "acme/shop"))

        with pytest.raises(NotFoundError, match="what the team brought was taken out here") as caught:
            exchange(memories)

    assert str(caught.value.hint) == "see what you may read: cairn login"
