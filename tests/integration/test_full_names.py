"""A definition is found by the name that traces, documents and IDEs write for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.errors import UnknownSymbolError
from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "shop/app/task.py": "class Task:\n    def retry(self):\n        pass\n",
    "shop/other.py": "class Task:\n    def retry(self):\n        pass\n",
    "core/src/main/java/org/acme/Shop.java": "package org.acme;\n"
    "public class Shop {\n  static boolean isOpen(Object o) { return true; }\n}\n",
    "core/src/main/java/org/other/Shop.java": "package org.other;\n"
    "public class Shop {\n  static boolean isOpen(Object o) { return true; }\n}\n",
    "server.go": "package web\n\ntype Server struct{}\n\nfunc (s *Server) Serve() {}\n\nfunc Load() {}\n",
    "sub/other.go": "package sub\n\ntype Server struct{}\n\nfunc (s *Server) Serve() {}\n\nfunc Load() {}\n",
    "src/Environment.php": "<?php\nnamespace Twig;\nclass Environment {\n    public function render() {}\n}\n",
    "my-terminal/src/term/mod.rs": "pub struct Term<T>(T);\nimpl<T> Term<T> {\n    pub fn resize(&mut self) {}\n}\n",
    "lib/oban/worker.ex": "defmodule Oban.Worker do\n  def perform(job), do: job\nend\n",
    "lib/site.rb": "module Jekyll\n  class Site\n    def process\n    end\n  end\nend\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("names")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("shop.app.task.Task.retry", ("shop/app/task.py", 2)),
        ("app.task.Task.retry", ("shop/app/task.py", 2)),
        ("shop.app.task:Task.retry()", ("shop/app/task.py", 2)),
        ("shop.other.Task", ("shop/other.py", 1)),
        ("org.acme.Shop.isOpen(Object)", ("core/src/main/java/org/acme/Shop.java", 3)),
        ("org.other.Shop#isOpen(Object)", ("core/src/main/java/org/other/Shop.java", 3)),
        ("org.acme.Shop", ("core/src/main/java/org/acme/Shop.java", 2)),
        ("web.Load", ("server.go", 7)),
        ("github.com/acme/web/v2.Load", ("server.go", 7)),
        ("web.(*Server).Serve", ("server.go", 5)),
        ("sub.Server.Serve", ("sub/other.go", 5)),
        (r"\Twig\Environment::render()", ("src/Environment.php", 4)),
        (r"Twig\Environment->render", ("src/Environment.php", 4)),
        ("my_terminal::term::Term::<T>::resize", ("my-terminal/src/term/mod.rs", 3)),
        ("Term<Vec<u8>>::resize", ("my-terminal/src/term/mod.rs", 3)),
        ("Oban.Worker.perform/1", ("lib/oban/worker.ex", 2)),
        ("Jekyll::Site#process", ("lib/site.rb", 3)),
    ],
)
def test_a_full_name_leads_to_one_definition(project: Workspace, name: str, place: tuple[str, int]) -> None:
    symbol = project.graph.callers(name).symbol
    assert (symbol.path, symbol.line) == place


@pytest.mark.parametrize(
    "name", ["nowhere.Task.retry", "(", "()", "::", "*", "<<<<", "a" * 5_000 + ".b" * 5_000, "<" * 9_000]
)
def test_a_name_that_nothing_has_is_unknown(project: Workspace, name: str) -> None:
    with pytest.raises(UnknownSymbolError):
        project.graph.callers(name)


def test_definitions_of_the_name_are_offered_where_another_part_of_it_is_wrong(project: Workspace) -> None:
    with pytest.raises(UnknownSymbolError) as caught:
        project.graph.callers("nowhere.Task.retry")
    assert (
        "did you mean shop/app/task.py:2 (method Task.retry), shop/other.py:2 (method Task.retry)?" in caught.value.hint
    )


def test_a_question_in_words_takes_full_names_too(project: Workspace) -> None:
    answer = project.search("callers of shop.app.task.Task.retry")
    assert "Task.retry (shop/app/task.py:2)" in " ".join(answer.notes)


@pytest.mark.parametrize("place", ["nosuch/shop/other.py:1", "work/other.py:1", "nosuch/server.go:5"])
def test_a_line_of_a_file_that_is_not_here_is_no_line_of_another(project: Workspace, place: str) -> None:
    with pytest.raises(UnknownSymbolError, match="no indexed file is called"):
        project.graph.callers(place)


def test_a_line_in_another_checkout_on_this_machine_is_none_of_this_one(project: Workspace, tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    with pytest.raises(UnknownSymbolError):
        project.graph.callers(f"{tmp_path}/shop/other.py:1")
    assert project.graph.callers(f"{project.root}/shop/other.py:1").symbol.path == "shop/other.py"
    assert project.graph.callers("/home/someone/shop/other.py:1").symbol.path == "shop/other.py"
