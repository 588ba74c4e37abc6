"""The documentation names everything that exists; run this file as a script to write the table of docs/languages.md."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, cast, get_args

import pytest

import cairn.storage.arrays  # noqa: F401 - declares an error of its own
from cairn.answers import Answer, CodeHit, Coverage, Fetched
from cairn.cli.commands import build_parser
from cairn.config import ENVIRONMENT_PREFIX, Settings
from cairn.daemon.http import status_of
from cairn.daemon.routes import all_routes
from cairn.errors import CairnError, DaemonError, StoreError
from cairn.hooks_settings import HooksSettings
from cairn.index.gc import GarbageReport
from cairn.index.health import Finding, Level, Repair
from cairn.index.watch import Reason
from cairn.mcp.surface import PROMPTS, RESOURCES
from cairn.mcp.tools import TOOLS
from cairn.memory_settings import MemorySettings
from cairn.model_providers import PROVIDERS
from cairn.model_settings import EmbeddingSettings
from cairn.protocol.documents import (
    ContextDocument,
    ContextItem,
    answer_to_dict,
    fetched_to_dict,
    flow_to_dict,
    outline_to_dict,
    slice_to_dict,
)
from cairn.protocol.memory_table import MEMORY_OPERATIONS
from cairn.protocol.requests import MAX_BODY_BYTES
from cairn.protocol.table import OPERATIONS as CODE_OPERATIONS
from cairn.schema import json_schema
from cairn.search.confidence import HIGH, MEDIUM
from cairn.search.score import Weights
from cairn.setting import rule_of, settings_of
from cairn.source.languages import LANGUAGES, PLAIN, Language, load_query_text
from cairn.storage.index.garbage_db import ViewSize
from cairn.types import EmbeddingReport, Estimate, IndexReport, ModelStatus
from cairn.workspace import Workspace

OPERATIONS = CODE_OPERATIONS | MEMORY_OPERATIONS
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_TOP = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md")
PAGES = [*(ROOT / name for name in _TOP), *sorted(DOCS.rglob("*.md"))]

_DEFINITION = re.compile(r"@definition\.(\w+)")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_BEGIN, _END = "<!-- languages -->\n", "<!-- /languages -->"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def commands() -> dict[str, argparse.ArgumentParser]:
    (action,) = [group for group in build_parser()._actions if isinstance(group, argparse._SubParsersAction)]
    return dict(action.choices)


def section(text: str, title: str) -> str:
    """Return a page from the heading that begins with `title` to the next heading of level two."""
    heading = re.search(rf"\n## {re.escape(title)}(?![a-z])", text)
    assert heading is not None, title
    start = heading.start()
    end = text.find("\n## ", start + 1)
    return text[start:end] if end >= 0 else text[start:]


def error_classes(base: type[CairnError] = CairnError) -> Iterator[type[CairnError]]:
    yield base
    for kind in base.__subclasses__():
        yield from error_classes(kind)


def language_row(language: Language) -> str:
    names = [f"`{name}`" for name in (*language.extensions, *language.filenames)]
    if language.name in ("c", "cpp"):
        names.append("`.h`")
    interpreters = ", ".join(f"`{name}`" for name in language.interpreters)
    cells = [f"`{language.name}`", ", ".join(names), interpreters]
    if language in LANGUAGES:
        rules = re.sub(r"^\s*;.*$", "", load_query_text(language), flags=re.MULTILINE)
        kinds = set(_DEFINITION.findall(rules))
        cells.append(", ".join(sorted(kinds)))
    return "| " + " | ".join(cells) + " |"


def language_tables() -> str:
    rows = [
        "| language | files | `#!` | definitions |",
        "|---|---|---|---|",
        *(language_row(language) for language in LANGUAGES),
        "",
        "Read, and cut at line breaks:",
        "",
        "| language | files | `#!` |",
        "|---|---|---|",
        *(language_row(language) for language in PLAIN),
        "",
    ]
    return "\n".join(rows)


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_has_a_section_with_all_its_options(name: str) -> None:
    text = page("cli.md")
    own, shared = section(text, f"cairn {name}"), section(text, "Options of every command")
    for action in commands()[name]._actions:
        for option in action.option_strings:
            assert re.search(rf"`{re.escape(option)}[ `]", own + shared), f"cairn {name} {option} is not in docs/cli.md"
        if not action.option_strings:
            assert str(action.metavar) in own.splitlines()[1]


@pytest.mark.parametrize("command", ["config", "core", "daemon", "memories"])
def test_every_action_is_documented_with_its_options(command: str) -> None:
    (action,) = [group for group in commands()[command]._actions if isinstance(group, argparse._SubParsersAction)]
    own = section(page("cli.md"), f"cairn {command}") + section(page("cli.md"), "Options of every command")
    for name, parser in action.choices.items():
        assert re.search(rf"\| `{name}[ `]", own)
        shown = [option for option in parser._actions if option.help != argparse.SUPPRESS]
        for option in {text for argument in shown for text in argument.option_strings} - {"-h", "--help"}:
            assert re.search(rf"`[^`]*{option}[ `]", own), f"cairn {command} {name} {option}"


def test_every_tool_of_the_mcp_server_is_documented_with_what_it_takes() -> None:
    rows = {
        line.split("`")[1]: line for line in section(page("mcp.md"), "Tools").splitlines() if line.startswith("| `")
    }
    assert set(rows) == set(TOOLS)
    for tool in TOOLS.values():
        for name in set(tool.offers) - {"project"}:
            assert f"`{name}`" in rows[tool.name], f"{tool.name} {name}"
    for name in (*PROMPTS, *RESOURCES):
        assert f"`{name}`" in page("mcp.md")


def test_every_address_of_the_daemon_is_documented_and_every_error_has_a_status() -> None:
    text = page("http-api.md")
    for route in all_routes():
        assert f"{route.path}`" in text, route.path
    for kind in error_classes(DaemonError):
        assert f"`{kind.code}`" in text or kind is DaemonError


def test_every_error_is_in_the_row_of_its_status() -> None:
    rows = dict(re.findall(r"^\| (\d{3})(?:, \d{3})* \|(.*)\|$", page("http-api.md"), re.MULTILINE))
    rows["413"] = rows["408"]
    for kind in error_classes():
        if kind not in (CairnError, DaemonError) and not issubclass(kind, StoreError):
            assert f"`{kind.code}`" in rows[str(status_of(kind("", "")))], kind.code


def test_every_field_of_requests_is_documented() -> None:
    for operation in OPERATIONS.values():
        names = set(json_schema(operation.request)["properties"])
        assert undocumented(names, page("http-api.md")) == set(), operation.name


# Commands that are not called as what they send, and flags that are not called as their field.
_OPERATION_OF = {name: f"graph/{name}" for name in ("callers", "callees", "path", "importers", "impact", "tests")}
_FIELD_OF = {"kind": "kinds", "lang": "languages"}


def flags_of_fields() -> Iterator[tuple[str, argparse.Action, dict[str, Any]]]:
    """Yield each flag of a command that is a field of its request, with the schema of the field."""
    for name, parser in commands().items():
        operation = OPERATIONS.get(_OPERATION_OF.get(name, name))
        properties = json_schema(operation.request)["properties"] if operation else {}
        for action in parser._actions:
            field = _FIELD_OF.get(action.dest, action.dest)
            if field in properties and field not in ("project", "file"):
                schema = properties[field]
                (inner,) = [variant for variant in schema.get("anyOf", [{}]) if variant != {"type": "null"}]
                yield f"{name} {action.dest}", action, schema | inner


def test_a_flag_has_the_words_the_limits_and_the_default_of_its_field() -> None:
    n_numbers = 0
    for name, action, field in flags_of_fields():
        assert (action.help or "").startswith(field["description"]), name
        assert list(action.choices or ()) == field.get("items", field).get("enum", []), name
        if action.option_strings and action.nargs is None:
            assert action.default == field.get("default"), name
        for limit, beyond in (("minimum", -1), ("maximum", 1)):
            if limit in field:
                n_numbers += 1
                read = cast("Callable[[str], int]", action.type)
                assert read(str(field[limit])) == field[limit], name
                with pytest.raises(argparse.ArgumentTypeError):
                    read(str(field[limit] + beyond))
    assert n_numbers > 10


def test_the_defaults_and_limits_that_pages_name_are_those_of_the_fields() -> None:
    for operation in OPERATIONS.values():
        (row,) = re.findall(rf"^\| .*`/api/{operation.name}`.*$", page("http-api.md"), re.MULTILINE)
        properties = json_schema(operation.request)["properties"]
        for name, default in re.findall(r"`(\w+)` \((\d+)\)", row.split("|")[2]):
            assert properties[name]["default"] == int(default), f"{operation.name} {name}"
    assert f"{MAX_BODY_BYTES:,} bytes" in page("daemon.md")


def test_options_of_the_program_itself_are_documented() -> None:
    for action in build_parser()._actions:
        for option in action.option_strings:
            assert f"{option}`" in page("cli.md")


def test_no_command_is_documented_that_does_not_exist() -> None:
    documented = re.findall(r"^## cairn (\w+)", page("cli.md"), re.MULTILINE)
    assert sorted(documented) == sorted(commands())


def test_every_choice_of_mode_is_in_the_guide() -> None:
    (action,) = [option for option in commands()["search"]._actions if "--mode" in option.option_strings]
    assert action.choices is not None
    for choice in action.choices:
        assert f"`{choice}`" in page("guide.md")


_SECTIONS: dict[str, type] = {"embedding": EmbeddingSettings, "memory": MemorySettings, "hooks": HooksSettings}


def test_every_setting_is_documented_with_its_default_and_variable() -> None:
    found = re.finditer(r"^\| `([\w.]+)` \| (\w+) \|.*$", page("configuration.md"), re.MULTILINE)
    rows = {match[1]: match[0] for match in found}
    settings = {setting.name: setting.default for setting in fields(Settings) if setting.name not in _SECTIONS}
    for section, kind in _SECTIONS.items():
        settings |= {f"{section}.{setting.name}": setting.default for setting in fields(kind)}
    assert set(rows) == set(settings)
    for name, default in settings.items():
        row = rows[name]
        assert f"`{ENVIRONMENT_PREFIX}{name.replace('.', '_').upper()}`" in row
        assert ("list" if default == () else type(default).__name__) in row
        assert f"`{default}`" in row or default in ("", ())


def test_every_provider_is_documented() -> None:
    for name, provider in PROVIDERS.items():
        assert name == "bundled" or f"| `{name}` |" in page("guide.md")
        assert provider.key_variable in page("guide.md")
        assert provider.is_local or provider.url in page("guide.md")


def test_what_a_projects_file_may_do_with_each_setting_is_documented() -> None:
    words = {"free": "free", "asks": "asks", "lowers": "only lower", "raises": "only higher", "never": "no"}
    rules = {name: rule_of(one).shared for name, one in settings_of(Settings).items()}
    for section, kind in _SECTIONS.items():
        rules |= {f"{section}.{name}": rule_of(one).shared for name, one in settings_of(kind).items()}
    rows = re.findall(r"^\| `([\w.]+)` \| \w+ \|.*\| ([\w ]+) \|[^|]*\|$", page("configuration.md"), re.MULTILINE)
    assert {name: words[rule] for name, rule in rules.items()} | {"embedding.fallbacks": "asks"} == dict(rows)


def test_every_error_is_documented_with_its_exit_code() -> None:
    text = page("errors.md")
    table = {cells[0].strip("` "): cells for cells in (line.strip("|").split("|") for line in text.splitlines())}
    for kind in error_classes():
        assert f"\n## `{kind.code}`\n" in text, f"{kind.__name__} has no section in docs/errors.md"
        _, classes, exit_code = table[kind.code]
        assert f"`{kind.__name__}`" in classes
        assert exit_code.strip() == str(kind.exit_code)


def test_no_error_is_documented_that_does_not_exist_nor_twice() -> None:
    documented = re.findall(r"^## `([\w-]+)`$", page("errors.md"), re.MULTILINE)
    rows = re.findall(r"^\| `([\w-]+)` \|", page("errors.md"), re.MULTILINE)
    assert sorted(rows) == sorted(set(rows)) == sorted(documented)
    assert set(documented) == {kind.code for kind in error_classes()}


def test_the_table_of_languages_is_up_to_date() -> None:
    text = page("languages.md")
    written = text[text.index(_BEGIN) + len(_BEGIN) : text.index(_END)]
    assert written == language_tables(), "run: python tests/docs/test_docs.py"


def test_every_field_of_a_search_document_is_documented() -> None:
    hit = CodeHit(
        "c_1",
        "",
        "",
        "",
        1,
        1,
        "",
        "",
        1,
        1.0,
        1.0,
        "high",
        "",
        stale=True,
        explain={},
        captures=({},),
        similarity=1.0,
        match="exact",
    )
    answer = Answer("", "", "", 1, (hit,), Coverage(1, 1, 0), 1.0, 1, notes=("a note",))
    document = answer_to_dict(answer)
    names = {*document, *document["code"][0], *document["coverage"]}
    assert undocumented(names, section(page("cli.md"), "cairn search")) == set()


def test_every_field_of_the_other_documents_is_documented(tmp_path: Path) -> None:
    fetched = fetched_to_dict(Fetched("", "", "", "", 1, 1, "", "", 1))
    assert undocumented(set(fetched), section(page("cli.md"), "cairn fetch")) == set()
    context = {*ContextDocument.__annotations__, *ContextItem.__annotations__} - {"sent"}  # of the daemon's sessions
    assert undocumented(context, section(page("cli.md"), "cairn context")) == set()
    report = {
        "root",
        "embedding",
        *(field.name for field in fields(IndexReport)),
        *Estimate._fields,
        *EmbeddingReport._fields,
    }
    assert undocumented(report, section(page("cli.md"), "cairn index")) == set()
    with Workspace.open(tmp_path, state_dir=tmp_path / "state", settings=Settings()) as workspace:
        workspace.index()
        names = {*workspace.upkeep.status(), *ModelStatus._fields, *ViewSize._fields, "gone", *workspace.state.sizes()}
        assert undocumented(names, section(page("cli.md"), "cairn status")) == set()


def test_every_field_of_garbage_and_findings_is_documented() -> None:
    text = page("cli.md")
    assert undocumented(set(GarbageReport._fields), section(text, "cairn gc")) == set()
    assert undocumented({*Finding._fields, "healthy", "findings"}, section(text, "cairn doctor")) == set()
    assert undocumented(set(get_args(Reason)), section(text, "cairn index")) == set()
    for name in (*get_args(Repair), *get_args(Level)):
        assert not name or f"`{name}`" in section(text, "cairn doctor")


def test_every_field_of_outlines_flow_and_slices_is_documented(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(a):\n    return a\n")
    with Workspace.open(tmp_path, state_dir=tmp_path / "state", settings=Settings()) as workspace:
        outline = outline_to_dict(workspace.code.outline("a.py"))
        flow = flow_to_dict(workspace.code.flow("a.py", "f"))
        cut = slice_to_dict(workspace.code.slice("a.py", 2))
    text = page("cli.md")
    assert undocumented({*outline, *outline["symbols"][0]}, section(text, "cairn outline")) == set()
    parts = (flow["steps"][0], flow["steps"][0]["next"][0], flow["blocks"][0], flow["dependences"][0])
    assert undocumented({*flow, *(name for part in parts for name in part)}, section(text, "cairn flow")) == set()
    assert undocumented({*cut, *cut["lines"][0]}, section(text, "cairn slice")) == set()


def undocumented(names: set[str], text: str) -> set[str]:
    return {name for name in names if f"`{name}`" not in text}


def test_every_value_a_search_returns_is_in_the_python_page() -> None:
    text = page("python-api.md")
    for names in (fields_of(Answer), set(CodeHit._fields), fields_of(IndexReport)):
        assert undocumented(names, text) == set()


def fields_of(kind: type[Answer | IndexReport]) -> set[str]:
    return {field.name for field in fields(kind)}


def test_the_bounds_of_confidence_are_those_of_the_code() -> None:
    for name in ("guide.md", "cli.md"):
        assert f" {HIGH}, `medium` from {MEDIUM}," in " ".join(page(name).split())


def test_every_feature_of_a_score_is_in_the_architecture_page() -> None:
    assert undocumented(set(Weights._fields), page("architecture.md")) == set()


def test_every_folder_of_the_package_has_a_section_in_the_architecture_page() -> None:
    headings = " ".join(_HEADING.findall(page("architecture.md")))
    folders = [path.name for path in (ROOT / "src" / "cairn").iterdir() if (path / "__init__.py").exists()]
    for folder in folders:
        assert f"`{folder}/`" in headings


def test_every_file_that_the_architecture_page_names_exists() -> None:
    names = {path.name for folder in ("src", "tests", "bench", "training") for path in (ROOT / folder).rglob("*.*")}
    names.update(path.name for path in ROOT.iterdir())
    named = re.findall(r"`(?:[\w.-]+/)*(\w+\.(?:py|c|md|sql|scm|toml))`", page("architecture.md"))
    assert set(named) - names == set()


def test_decisions_are_numbered_without_a_gap_and_have_their_four_parts() -> None:
    decisions = sorted((DOCS / "adr").glob("*.md"))
    assert [int(file.name[:4]) for file in decisions] == list(range(1, len(decisions) + 1))
    for file in decisions:
        headings = _HEADING.findall(file.read_text(encoding="utf-8"))
        assert headings[1:] == ["Context", "Decision", "Rejected options", "Consequences"], file.name


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_somewhere(file: Path) -> None:
    for target in _LINK.findall(_FENCE.sub("", file.read_text(encoding="utf-8"))):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (file.parent / path).resolve() if path else file
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked), target


def anchors(file: Path) -> set[str]:
    """Return the anchors of a page's headings as GitHub makes them."""
    headings = _HEADING.findall(_FENCE.sub("", file.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def write_language_tables() -> None:
    text = page("languages.md")
    start, end = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
    (DOCS / "languages.md").write_text(text[:start] + language_tables() + text[end:], encoding="utf-8")


if __name__ == "__main__":
    write_language_tables()
