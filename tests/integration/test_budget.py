"""Every answer keeps within the tokens that were asked for, counted in the JSON that is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cairn.operations import perform
from cairn.protocol.table import OPERATIONS
from cairn.schema import decode
from cairn.source.text import estimate_tokens
from cairn.workspace import Workspace

N_FUNCTIONS = 60
MODULE = (
    "import os\nimport sys\nfrom text import clean\n\n\n"
    'def price(text):\n    """Preis in €, "roh"."""\n    return clean(text)\n\n\n'
    + "".join(
        f'def price_of_part_{number}(text):\n    """Return the price “{number}” of a\tpart, zum Beispiel €."""\n'
        f'    found = {{"a": "\\\\", "b": \'"{number}"\'}}\n    return price(text) + len(found)\n\n\n'
        for number in range(N_FUNCTIONS)
    )
)
TEST = "from prices import price\n\n\n" + "".join(
    f"def test_price_{number}():\n    assert price('{number}') == '{number}'\n\n\n" for number in range(N_FUNCTIONS)
)
# Of each operation: what is asked, and which of the lists of its answer, with which counts, has all there is.
ASKED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "search": ({"query": "price of a part", "limit": 50}, ("code",)),
    "similar": ({"file": "prices.py", "line": 12, "limit": 50}, ("code",)),
    "context": ({"task": "change the price of a part", "files": ["prices.py"], "limit": 20}, ()),
    "outline": ({"file": "prices.py"}, ()),
    "graph/callers": ({"symbol": "price"}, ("links",)),
    "graph/impact": ({"symbol": "price"}, ("affected", "tests", "importers", "changed")),
    "graph/tests": ({"symbol": "price"}, ("tests", "changed")),
    "core/list": ({}, ()),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("prices")
    (root / "prices.py").write_text(MODULE, encoding="utf-8")
    (root / "test_prices.py").write_text(TEST)
    (root / "text.py").write_text("def clean(text):\n    return text.strip()\n")
    with Workspace.open(root) as found:
        found.index()
        for file in ("prices.py", "test_prices.py"):
            answer(found, "core/add", file=file, summary="Was ein Teil kostet, in €")
        yield found


def answer(workspace: Workspace, operation: str, **asked: Any) -> Any:  # noqa: ANN401 - JSON
    return perform(workspace, operation, decode(OPERATIONS[operation].request, asked))


def tokens_of(document: object) -> int:
    return estimate_tokens(len(json.dumps(document)))


@pytest.mark.parametrize("max_tokens", [300, 700, 2_000])
@pytest.mark.parametrize("operation", ASKED)
def test_an_answer_costs_what_was_given_at_most_and_uses_it(
    workspace: Workspace, operation: str, max_tokens: int
) -> None:
    asked, lists = ASKED[operation]
    whole = answer(workspace, operation, **asked, max_tokens=100_000)
    cut = answer(workspace, operation, **asked, max_tokens=max_tokens)
    assert tokens_of(cut) <= max_tokens
    if tokens_of(whole) <= max_tokens:
        return
    assert tokens_of(cut) > max_tokens / 2
    n_cut = sum(len(whole[name]) - len(cut[name]) for name in lists)
    if "omitted" in whole and lists:
        assert cut["omitted"] == whole["omitted"] + n_cut > 0


@pytest.mark.parametrize("max_tokens", [300, 700, 2_000])
def test_fetched_texts_lose_their_ends_first_and_then_their_rows(workspace: Workspace, max_tokens: int) -> None:
    ids = [hit["id"] for hit in answer(workspace, "search", query="price of a part", limit=30)["code"]]
    whole = answer(workspace, "fetch", ids=ids)
    cut = answer(workspace, "fetch", ids=ids, max_tokens=max_tokens)
    assert max_tokens / 2 < tokens_of(cut) <= max_tokens < tokens_of(whole)
    assert len(cut) + cut[-1].get("omitted_ids", 0) == len(whole)
    for shown, all_of_it in zip(cut, whole, strict=False):
        lines = all_of_it["text"].split("\n")
        n_kept = len(lines) - shown.get("omitted_lines", 0)
        assert shown["text"] == "\n".join(lines[:n_kept])


def test_an_outline_shows_its_text_before_the_lists_beside_it(workspace: Workspace) -> None:
    whole = answer(workspace, "outline", file="prices.py")
    cut = answer(workspace, "outline", file="prices.py", max_tokens=whole["tokens"] + 300)
    assert cut["text"] == whole["text"]
    assert cut["unlisted"] == len(whole["symbols"]) + len(whole["imports"]) - len(cut["symbols"]) - len(cut["imports"])
    assert "unlisted" not in whole


def test_a_budget_too_small_for_anything_leaves_the_frame_and_the_counts(workspace: Workspace) -> None:
    found = answer(workspace, "search", query="price of a part", max_tokens=0)
    assert (found["code"], found["omitted"] > 0) == ([], True)
    (first,) = answer(workspace, "fetch", ids=["prices.py#price", "text.py#clean"], max_tokens=0)
    assert (first["text"], first["omitted_lines"], first["omitted_ids"]) == ("", 3, 1)
    packed = answer(workspace, "context", task="price", max_tokens=0)
    assert (packed["items"], packed["omitted"] > 0) == ([], True)
