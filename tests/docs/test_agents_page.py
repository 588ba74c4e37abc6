"""The page about agents tells what is written for each of them: `python tests/docs/test_agents_page.py` writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.hooks.adapter import Adapter, Block, Change, FileEntry, Item, Level, Place, Whole
from cairn.hooks.agents import NAMES, adapter_of
from cairn.install.files import shown_path

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
ROOT, HOME = Path("/repo"), Path("/home/you")


def tables() -> str:
    """Return the section of each agent as the page has it."""
    return "\n".join(_section(adapter_of(name)) for name in NAMES)


def _section(adapter: Adapter) -> str:
    lines = [f"### {adapter.title}", "", f"`cairn init --agent {adapter.name}`. {_found(adapter)}", ""]
    if adapter.levels == ("user",):
        lines[2] = lines[2].replace("`. ", " --user`. ", 1)
    lines += ["| what | in a project | with `--user` |", "|---|---|---|"]
    levels: tuple[Level, ...] = ("project", "user")
    files = {level: _files(adapter, level) for level in levels}
    for what in dict.fromkeys([*files["project"], *files["user"]]):
        lines.append(f"| {what} | {files['project'].get(what, '')} | {files['user'].get(what, '')} |")
    lines += ["", f"Hooks: {_events(adapter)}." if adapter.events else "No hooks.", ""]
    lines += [f"- {step}" for step in adapter.by_hand]
    return "\n".join([*lines, ""] if adapter.by_hand else lines)


def _found(adapter: Adapter) -> str:
    known = adapter.detection
    signs = [f"`{name}` on your `PATH`" for name in known.programs]
    signs += [f"`{name}`" for name in known.in_project] + [f"`~/{name}`" for name in known.in_home]
    return f"Found by {', '.join(signs)}."


def _files(adapter: Adapter, level: Level) -> dict[str, str]:
    if level not in adapter.levels:
        return {}
    place = Place(level, ROOT, HOME, {})
    files: dict[str, list[str]] = {}
    for change in adapter.changes(place):
        if isinstance(change, FileEntry) and change.is_default:
            continue
        shown = f"`{shown_path(change.file, place)}`"
        names = files.setdefault(_what(change), [])
        if shown not in names:
            names.append(shown)
    return {what: ", ".join(names) for what, names in files.items()}


def _what(change: Change) -> str:
    if isinstance(change, Block):
        return "passage"
    if isinstance(change, Whole):
        suffix = change.file.suffix
        if suffix == ".yaml":
            return "MCP server"
        is_skill = change.file.name == "SKILL.md"
        return "skill" if is_skill else "hooks" if suffix == ".json" else "plugin" if suffix == ".ts" else _text(change)
    if isinstance(change, Item):
        return "MCP server" if "mcp_servers" in change.path else "hooks"
    if isinstance(change, FileEntry) and change.path[-1] != "cairn":
        return "hooks"
    return "MCP server"


def _text(change: Whole) -> str:
    return "sub-agent" if "agents" in change.file.parts else "rules"


def _events(adapter: Adapter) -> str:
    shown = []
    for event in adapter.events:
        abilities = sorted(adapter.abilities.get(event, ()))
        shown.append(f"{event} ({', '.join(abilities)})" if abilities else event)
    return ", ".join(shown)


def test_the_page_tells_what_is_written_for_each_agent() -> None:
    assert tables().strip() in PAGE.read_text(encoding="utf-8"), f"docs/agents.md lacks\n{tables()}"


@pytest.mark.parametrize("name", NAMES)
def test_hooks_are_in_a_file_where_there_are_any(name: str) -> None:
    section = _section(adapter_of(name))
    assert not ("\nNo hooks." in section and "| hooks |" in section)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_person_has_to_do_is_said_in_whole_sentences(name: str) -> None:
    for step in adapter_of(name).by_hand:
        assert step[0].isupper()
        assert len(step) < 200


if __name__ == "__main__":
    words, _, _ = PAGE.read_text(encoding="utf-8").partition("### ")
    PAGE.write_text(words + tables().rstrip("\n") + "\n", encoding="utf-8")
