from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace

FILES = {
    "shop/render.py": "def render(page):\n    return page\n",
    "shop/views.py": "from shop.render import render\n\n\nclass View:\n    def render(self):\n"
    "        return render(self)\n\n\ndef show_where_render_is_defined(view):\n    return view.render()\n",
    "shop/pdf/views.py": "class Printed:\n    def render(self):\n        return None\n",
    "shop/session.py": "class Store:\n    def load(self):\n        return {}\n",
    "shop/cart.py": "class Cart:\n    def load(self):\n        return []\n\n\nclass Session:\n    items = ()\n",
    "tests/test_render.py": "def render():\n    return 'a page for the tests'\n",
    "deps/page/render.py": "def render(text):\n    return text\n",
    "src/buffer.h": "int buffer_grow(int size);\n",
    "src/memory.c": '#include "buffer.h"\n\nint buffer_grow(int size) {\n    return size * 2;\n}\n',
    "index.d.ts": "export class ShopError extends Error {\n  code: number;\n  static from(error: Error): void;\n}\n",
    "lib/ShopError.js": "export function ShopError(message) {\n  this.message = message;\n  this.code = 1;\n}\n",
    "docs/sessions.md": "# Sessions\n\nWhere the session is defined and how sessions work: a session keeps items.\n",
    "shop/keeping.py": '"""How sessions work: keeping what one holds."""\n\n\ndef keep(session):\n    return session\n',
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("definitions")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("question", "path", "name"),
    [
        ("where is render defined", "shop/render.py", "render"),
        ("which file defines `View.render`", "shop/views.py", "render"),
        ("show me the class Store", "shop/session.py", "Store"),
        ("definition of cart.load", "shop/cart.py", "load"),
        ("where is pdf/views/render", "shop/pdf/views.py", "render"),
        ("what is buffer_grow", "src/memory.c", "buffer_grow"),
        ("`buffer_grow`", "src/memory.c", "buffer_grow"),
        ("where is session defined", "shop/cart.py", "Session"),
        ("ShopError", "lib/ShopError.js", "ShopError"),
    ],
)
def test_a_question_for_a_definition_is_answered_with_it(
    question: str, path: str, name: str, workspace: Workspace
) -> None:
    hit = workspace.search(question).code[0]
    assert (hit.path, hit.name) == (path, name)


def test_of_several_definitions_each_file_shows_one_and_tests_and_vendored_files_come_last(
    workspace: Workspace,
) -> None:
    hits = workspace.search("where is render defined").code
    paths = [hit.path for hit in hits if hit.name == "render"]
    assert paths[0] == "shop/render.py"
    assert set(paths[1:3]) == {"shop/views.py", "shop/pdf/views.py"}
    assert set(paths[3:]) == {"tests/test_render.py", "deps/page/render.py"}


@pytest.mark.parametrize("query", ["shop/pdf/views.py", "find pdf/views.py", "./shop/pdf/views.py", "shop.pdf.views"])
def test_a_path_or_a_module_finds_its_file(query: str, workspace: Workspace) -> None:
    hit = workspace.search(query).code[0]
    assert (hit.path, hit.start_line) == ("shop/pdf/views.py", 1)


def test_a_name_in_backticks_that_nothing_defines_is_looked_for_as_it_stands(workspace: Workspace) -> None:
    answer = workspace.search("`items`", mode="auto")
    assert answer.mode in ("literal", "symbol")
    assert workspace.search("`holds`").mode == "literal"


def test_a_plain_word_that_may_be_prose_is_not_sure_to_be_the_definition(workspace: Workspace) -> None:
    answer = workspace.search("what is render")
    assert answer.code[0].path == "shop/render.py"
    assert answer.code[0].confidence != "high"
    assert any("--mode hybrid" in str(note) for note in answer.notes)
