"""Calls of what a variable holds lead to the variable: a wrapped component, a bound function, what a factory made."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.graph.values import Links
from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "tag.tsx": (
        'import { forwardRef, lazy, memo } from "react";\nimport styled from "styled-components";\n\n'
        "export const Memoed = memo(() => <div />);\n"
        "export const Forwarded = forwardRef((p, r) => <div ref={r} />);\n"
        'export const Late = lazy(() => import("./late"));\n'
        "export const Box = styled.div`color: red`;\n"
        "export const Framed = inFrame(Plain);\n"
        "export const other = helper;\n"
        "export const bound = helper.bind(null);\n"
        "export function Plain() { return <div />; }\n"
        "export function helper() { return 1; }\n"
        "function inFrame(Inner: any) {\n  function Frame() { return <Inner />; }\n  return Frame;\n}\n"
    ),
    "page.tsx": (
        'import { Memoed, Forwarded, Late, Box, Framed, other, bound } from "./tag";\n\n'
        "export function Page() {\n"
        "  bound();\n"
        "  other();\n"
        "  return <main>\n    <Memoed />\n    <Forwarded />\n    <Late />\n    <Box />\n    <Framed />\n  </main>;\n}\n"
    ),
    "shop.py": (
        "from elsewhere import make\n\nprice = make()\n\n\nclass Till:\n    ring = None\n\n    def open(self):\n"
        "        price(1)\n        price.later(1)\n        return self.ring()\n"
    ),
    "till.go": "package till\n\nvar stat = other.Stat\n\nfunc open() { stat() }\n\nfunc shut() { run() }\n",
    "ci.yml": "run: all\n",
    "go.mod": "module example.com/till\n\ngo 1.22\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("project")
    write_files(root, FILES)
    workspace = Workspace.open(root)
    workspace.index()
    return workspace


def callers(project: Workspace, symbol: str) -> Links:
    return project.graph.callers(symbol)


@pytest.mark.parametrize(
    ("symbol", "place"),
    [
        ("Memoed", "page.tsx:7"),
        ("Forwarded", "page.tsx:8"),
        ("Late", "page.tsx:9"),
        ("Box", "page.tsx:10"),
        ("Framed", "page.tsx:11"),
        ("other", "page.tsx:5"),
        ("bound", "page.tsx:4"),
        ("price", "shop.py:10"),
        ("Till.ring", "shop.py:12"),
        ("stat", "till.go:5"),
    ],
)
def test_a_call_of_a_value_leads_to_the_variable_that_holds_it(project: Workspace, symbol: str, place: str) -> None:
    links = callers(project, symbol)
    assert [(f"{link.path}:{link.line}", link.kind) for link in links.links] == [(place, "call")]
    assert links.unresolved is None
    found = [f"{one.path}:{one.line}" for one in project.graph.references(symbol).references if one.kind == "call"]
    assert place in found


def test_an_impact_follows_calls_of_values(project: Workspace) -> None:
    assert [one.symbol.name for one in project.graph.impact("Memoed").affected] == ["Page"]


def test_a_call_does_not_mean_a_key_of_another_language(project: Workspace) -> None:
    assert callers(project, "ci.yml:1").links == ()


def test_a_call_of_a_value_may_run_a_function_of_its_name(tmp_path: Path) -> None:
    files = {
        "jobs.js": "export function perform(x) {\n  return x;\n}\n",
        "run.js": "class Worker {\n  perform;\n  go() {\n    this.perform(1);\n  }\n}\n",
        "other.js": 'import { perform } from "./jobs";\n\nperform(2);\n',
    }
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        unresolved = workspace.graph.callers("jobs.js:perform").unresolved
    assert unresolved is not None
    assert [(mention.path, mention.line) for mention in unresolved.first] == [("run.js", 4)]
