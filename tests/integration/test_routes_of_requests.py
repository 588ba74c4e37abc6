"""Requests in questions and texts: the route that they fit comes first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "shop/views.py": (
        '"""What the shop answers."""\n\nfrom shop import app\n\n\n'
        '@app.get("/carts/{cart_id}/items")\ndef list_items(cart_id):\n    return load(cart_id).items\n\n\n'
        '@app.post("/carts/{cart_id}/items")\ndef add_item(cart_id):\n    return load(cart_id).add()\n'
    ),
    "shop/errors.py": (
        '"""Errors 500 of the server: what went wrong with a cart or its items."""\n\nclass ServerError(Exception):\n'
        "    pass\n"
    ),
    "web/client.js": "export const add = (id) => fetch(`/carts/${id}/items`, { method: 'POST' });\n",
    "tests/test_views.py": 'def test_add():\n    assert client.post("/carts/12/items").status_code == 200\n',
    "docs/api.md": "# API\n\n`POST /carts/12/items` adds an item.\n",
}
ADD = ("shop/views.py", 11, "add_item")
REPORT = "Items are not added\n\nWhen I call `POST /carts/12/items` I get an error 500. It worked last week.\n"
LOG = (
    '10.0.0.1 - - [03/Mar/2025 10:00:00] "GET /health HTTP/1.1" 200 -\n'
    '10.0.0.1 - - [03/Mar/2025 10:00:01] "POST /carts/12/items HTTP/1.1" 500 -\n'
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("routes")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    "text",
    [
        "POST /carts/12/items",
        "POST /carts/12/items returns 500",
        "where is POST /api/v1/carts/12/items handled",
        "curl -X POST http://localhost:8000/carts/12/items",
        REPORT,
        LOG,
    ],
    ids=["request", "failure", "question", "curl", "report", "log"],
)
def test_the_route_of_a_request_comes_first(shop: Workspace, text: str) -> None:
    first = shop.search(text).code[0]
    assert (first.path, first.start_line, first.name) == ADD
    assert first.confidence == "high"


def test_a_route_of_another_method_is_no_sure_answer(shop: Workspace) -> None:
    first = shop.search("DELETE /carts/12/items").code[0]
    assert first.path == "shop/views.py"
    assert first.confidence != "high"


def test_a_note_says_which_route_comes_first_and_a_text_which_part_it_answers(shop: Workspace) -> None:
    assert any("'/carts/{cart_id}/items'" in str(note) for note in shop.search("POST /carts/12/items").notes)
    assert shop.search(REPORT).code[0].part == "route of the request"


def test_filters_hold_for_routes(shop: Workspace) -> None:
    found = shop.search("POST /carts/12/items", globs=["web/**"]).code
    assert {hit.path for hit in found} == {"web/client.js"}


def test_a_request_that_no_route_fits_is_looked_for_as_before(shop: Workspace) -> None:
    answer = shop.search("POST /tills/open")
    assert not any("route" in str(note) for note in answer.notes)
