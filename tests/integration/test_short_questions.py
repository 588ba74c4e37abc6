"""Short questions as they are typed: a piece of code, a name in the wrong case, a folder, a member of an enum."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.answers import Answer
from cairn.hints import Hint
from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "main.tf": 'resource "aws_eks_cluster" "this" {\n  name = "a"\n}\n',
    "variables.tf": (
        'variable "name" {\n  description = "Name of the cluster"\n  type = string\n}\n\n'
        'variable "kubernetes_version" {\n  description = "Which one of the cluster"\n  type = string\n}\n'
    ),
    "src/robin_dict.jl": (
        "mutable struct RobinDict{K,V} <: AbstractDict{K,V}\n    hashes::Vector{UInt32}\n    "
        + "\n    ".join(f"slot_{number}::Vector{{V}}  # of the values that are kept" for number in range(30))
        + "\nend\n\n"
        "RobinDict{K,V}(p::Pair) where {K,V} = setindex!(RobinDict{K,V}(), p.second, p.first)\n"
        "RobinDict() = RobinDict{Any,Any}()\nRobinDict(kv::Tuple{}) = RobinDict()\n"
    ),
    "web/types.ts": "export enum ChangeKind {\n  /** Made at once. */\n  direct = 'direct',\n  patch = 'patch',\n}\n",
    "web/use.ts": (
        "import { ChangeKind } from './types'\n\n"
        "export function isDirect(kind: ChangeKind) {\n  return kind === ChangeKind.direct\n}\n\n"
        "export class Change {\n  direct() {\n    return ChangeKind.direct\n  }\n}\n"
    ),
    "docs/ChangeKind.md": "# ChangeKind\n\n## direct\n\nChangeKind.direct is made at once.\n",
    "lua/finder/algos/tree.lua": "local tree = {}\nreturn tree\n",
    "lua/finder/algos/list.lua": "local list = {}\nreturn list\n",
    "lua/finder/algos/deep/heap.lua": "local heap = {}\nreturn heap\n",
    "lua/finder/setup.lua": "return require('finder/algos')  -- see lua/finder/algos\n",
    "outputs.tf": "output \"arn\" {\n  value = try(aws_eks_cluster.this[0].arn, null)\n}\n",
    "server/labels.go": (
        "package server\n\nfunc Labels() map[string]string {\n\treturn map[string]string{}\n}\n\n"
        "func stringOfLabel(label int) string {\n\treturn \"label\"\n}\n"
    ),
    "web/hot.ts": (
        "export function accept(id: string) {\n  console.log(`[Shop]: skipping reload`)\n  return id\n}\n"
        "export const name = '[@shop/plugin-api]'\n"
        "export const headers = (all: any) => all['content-type']\n"
        "export const rule = 'reload.*accept'\n"
    ),
    "web/hooks.ts": (
        "export function useMemoFilters(kind: string) {\n  return [kind]\n}\n\n"
        "export class Filters {\n  kind = 'all'\n}\n"
    ),
    "web/page.ts": "export function openPage() {\n  return useMemoFilters('page')\n}\n",
    "web/accept.ts": "export const both = (reload: any, accept: any) => reload && accept\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("short")
    write_files(root, FILES)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


def places(answer: Answer) -> list[tuple[str, int]]:
    return [(hit.path, hit.start_line) for hit in answer.code]


# -- brackets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("aws_eks_cluster.this[0].arn", [("outputs.tf", 2)]),
        ("map[string]string", [("server/labels.go", 3), ("server/labels.go", 4)]),
        ("['content-type']", [("web/hot.ts", 6)]),
        ("[@shop/plugin-api]", [("web/hot.ts", 5)]),
    ],
)
def test_a_text_with_brackets_is_no_pattern(workspace: Workspace, text: str, found: list[tuple[str, int]]) -> None:
    answer = workspace.search(text)
    assert (answer.mode, places(answer), answer.notes) == ("literal", found, ())


def test_what_begins_with_brackets_comes_first_and_is_not_denied(workspace: Workspace) -> None:
    answer = workspace.search("[Shop]: skipping reload")
    assert places(answer)[0] == ("web/hot.ts", 2)
    assert not any(note.startswith("No line") for note in answer.notes)


def test_lines_that_hold_a_pattern_itself_come_before_those_that_match_it(workspace: Workspace) -> None:
    answer = workspace.search("reload.*accept")
    assert (answer.mode, places(answer)) == ("regex", [("web/hot.ts", 7), ("web/accept.ts", 1)])
    answer = workspace.search("reload.*accept", limit=1)
    assert (places(answer), answer.omitted) == ([("web/hot.ts", 7)], 1)


def test_a_text_that_is_nowhere_is_not_said_to_have_related_code_if_there_is_none(workspace: Workspace) -> None:
    answer = workspace.search('"zzyyxx wwvvuu ttssrr"')
    assert answer.code == ()
    assert answer.notes[0] == "No line holds 'zzyyxx wwvvuu ttssrr' exactly."


def test_a_pattern_that_is_none_is_taken_as_it_is(workspace: Workspace) -> None:
    answer = workspace.search(r"\d{2,1}")
    assert [note for note in answer.notes if note.startswith("No line")] == [
        r"No line holds '\d{2,1}' exactly; these are related."
    ]


# -- names in another case ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["usememofilters", "USEMEMOFILTERS", "useMemofilters"])
def test_a_name_in_another_case_is_found_first(workspace: Workspace, text: str) -> None:
    hit = workspace.search(text).code[0]
    assert (hit.name, hit.confidence) == ("useMemoFilters", "high")


def test_a_name_in_lower_case_leads_to_its_uses_as_well(workspace: Workspace) -> None:
    assert "web/page.ts" in [path for path, _ in places(workspace.search("usememofilters"))]
    assert places(workspace.search("pages that ask usememofilters"))[0][0] in ("web/page.ts", "web/hooks.ts")


def test_a_name_in_the_right_case_leaves_out_those_in_another(workspace: Workspace) -> None:
    found = [hit.name for hit in workspace.search("Filters").code]
    assert found[0] == "Filters"


# -- misspelt names ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["usememfilters", "USEMEMOFLITERS", "usmemofilters()"])
def test_a_misspelt_name_is_answered_with_those_like_it(workspace: Workspace, text: str) -> None:
    answer = workspace.search(text)
    (note,) = answer.notes
    assert (answer.code, isinstance(note, Hint)) == ((), True)
    assert "like it are useMemoFilters" in note
    assert note.endswith("cairn search useMemoFilters")


def test_nothing_is_said_of_names_where_none_is_like_a_word(workspace: Workspace) -> None:
    assert workspace.search("zzxxqq").notes == ()
    assert workspace.search("usememfilters", globs=["server/**"]).notes == ()


# -- which definition is shown -----------------------------------------------------------------------------------------


def test_of_a_shared_chunk_the_definition_is_shown_whose_words_the_query_has(workspace: Workspace) -> None:
    hit = workspace.search("kubernetes version").code[0]
    assert (hit.path, hit.name, hit.start_line) == ("variables.tf", "kubernetes_version", 6)
    assert hit.id.endswith(".1")  # it shares its chunk with the one before


def test_a_type_comes_before_the_functions_of_its_name(workspace: Workspace) -> None:
    hit = workspace.search("RobinDict").code[0]
    assert (hit.path, hit.kind, hit.name) == ("src/robin_dict.jl", "struct", "RobinDict")


# -- folders -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["lua/finder/algos", "./lua/finder/algos/", "show me lua/finder/algos"])
def test_a_folder_gives_the_files_in_it_and_then_those_below(workspace: Workspace, text: str) -> None:
    answer = workspace.search(text)
    assert [path for path, _ in places(answer)][:3] == [
        "lua/finder/algos/list.lua",
        "lua/finder/algos/tree.lua",
        "lua/finder/algos/deep/heap.lua",
    ]
    assert any(note.endswith("which has 3 files.") for note in answer.notes)


def test_a_folder_with_a_slash_needs_no_other(workspace: Workspace) -> None:
    assert {path for path, _ in places(workspace.search("server/"))[:1]} == {"server/labels.go"}


def test_a_filter_holds_within_a_folder(workspace: Workspace) -> None:
    answer = workspace.search("lua/finder/algos", globs=["**/deep/**"])
    assert [path for path, _ in places(answer)] == ["lua/finder/algos/deep/heap.lua"]


# -- members of enums --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["ChangeKind.direct", "where is ChangeKind.direct defined"])
def test_a_member_of_an_enum_is_found_in_it(workspace: Workspace, text: str) -> None:
    hit = workspace.search(text).code[0]
    assert (hit.path, hit.kind, hit.name, hit.confidence) == ("web/types.ts", "enum", "ChangeKind", "high")


def test_a_member_that_is_a_definition_comes_before_what_it_is_in(workspace: Workspace) -> None:
    hit = workspace.search("Change.direct").code[0]
    assert (hit.path, hit.kind, hit.name) == ("web/use.ts", "method", "direct")


@pytest.mark.parametrize(("name", "found"), [("AndOr", ["ops.py"]), ("IsNot", ["ops.py"]), ("OrNot", [])])
def test_a_name_of_stop_words_in_a_line_of_a_log_is_found_where_something_is_called_so(
    tmp_path: Path, name: str, found: list[str]
) -> None:
    (tmp_path / "ops.py").write_text(
        'class AndOr:\n    """Joins conditions."""\n\n    def run(self, left, right):\n'
        "        return left or right\n\n\n"
        "class IsNot:\n    def check(self, value):\n        return value is None\n"
    )
    for number in range(30):
        (tmp_path / f"h{number}.py").write_text(
            f"def handler_{number}(request):\n    '''Handle the request and load the settings file, or fail.'''\n"
            f"    return request.load({number})\n"
        )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        answer = workspace.search(f"2026-11-26 10:00:01 ERROR worker: TypeError: {name} got an unexpected value")
        assert [hit.path for hit in answer.code[:1]] == found
        assert [hit.name for hit in answer.code[:1]] == [name] * len(found)


def test_a_message_in_lower_case_is_found_where_the_code_makes_it_as_a_sentence(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "CHANGELOG.md": "# Changes\n\n- The text for wanted but not invoked was improved.\n",
            "report.py": 'def report(call):\n    raise AssertionError(f"Wanted but not invoked: {call}")\n',
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for text in ("wanted but not invoked", "Wanted but not invoked"):
            assert workspace.search(text).code[0].path == "report.py"


def test_a_number_in_a_question_is_found_where_the_code_has_it(tmp_path: Path) -> None:
    write_files(tmp_path, {"settings.py": "RETRIED = [500, 502, 429]\n", "server.py": "def serve():\n    return 1\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert [hit.path for hit in workspace.search("is 429 temporary").code] == ["settings.py"]
        assert workspace.search("is 719 temporary").code == ()


def test_what_a_namespace_holds_is_shown_and_not_the_namespace(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"cart.h": "namespace shop {\n\nint add_up(int first, int second);\n\n}  // namespace shop\n"}
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        hit = workspace.search("what is added up in a shop").code[0]
        assert (hit.kind, hit.name) == ("function", "add_up")


@pytest.mark.parametrize("text", ["inline_height", "where is inline_height defined", "rename inline_height to height"])
def test_a_field_comes_before_what_the_documentation_says_of_the_setting(tmp_path: Path, text: str) -> None:
    write_files(
        tmp_path,
        {
            "docs/config.md": "# Config\n\n## inline_height\n\nDefault: `0`. Set `inline_height`.\n",
            "src/settings.rs": (
                "pub struct Settings {\n    /// The inline_height of the window.\n    pub inline_height: u16,\n}\n\n"
                "impl Settings {\n    pub fn is_full(&self) -> bool {\n        self.inline_height == 0\n    }\n}\n"
            ),
            "tests/settings.rs": "struct Fake {\n    inline_height: u16,\n}\n",
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert places(workspace.search(text))[:2] == [("src/settings.rs", 3), ("docs/config.md", 3)]
        assert workspace.search("docs of inline_height").code[0].path == "docs/config.md"


def test_where_a_key_is_defined_is_where_lines_hold_all_of_it(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "src/orders.php": "<?php\nfunction next_of($all) {\n    return $all->find('invoice.number_format');\n}\n",
            "src/numbers.php": "<?php\nfunction format_number($number) {\n    return invoice($number);\n}\n",
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert places(workspace.search("where is invoice.number_format defined"))[0] == ("src/orders.php", 3)


def test_of_fields_of_a_name_the_one_in_the_scope_is_meant(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "docs/config.md": "# Config\n\n## Daemon\n\n### sync_every\n\nHow often it runs.\n",
            "src/settings.rs": (
                "pub struct Settings {\n    pub sync_every: u8,\n}\n\npub struct Daemon {\n    pub sync_every: u8,\n}\n"
            ),
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert places(workspace.search("daemon.sync_every"))[:2] == [("src/settings.rs", 6), ("docs/config.md", 5)]


def test_where_a_thing_is_made_is_no_question_for_what_is_called_like_it(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "shop/service.py": "def create_survey(store, title):\n    return store.insert('surveys', title)\n",
            **{f"tests/test_{word}.py": f"survey = {{'title': '{word}'}}\n" for word in ("one", "two", "six")},
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.search("where is a survey created").code[0].name == "create_survey"


def test_a_question_for_commits_is_told_where_to_ask(workspace: Workspace) -> None:
    notes = workspace.search("when was the reload of labels added").notes
    assert "cairn history 'when was the reload of labels added'" in " ".join(map(str, notes))
    assert not any("commits" in str(note) for note in workspace.search("when is a label added").notes)
