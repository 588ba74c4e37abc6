from __future__ import annotations

import json

from cairn.answers import Answer, CodeHit, Coverage, Fetched, Neighbour, Outline, OutlineSymbol
from cairn.protocol.documents import (
    FetchedDocument,
    HitDocument,
    NeighbourDocument,
    OutlineDocument,
    OutlineSymbolDocument,
    answer_to_dict,
    fetched_to_dict,
    outline_to_dict,
)
from cairn.schema import json_schema

ODD = "caf\udce9.py"  # a name on disk whose bytes are not UTF-8


def required(document: type) -> set[str]:
    return set(json_schema(document)["required"])


def test_a_fetched_text_has_the_fields_that_its_document_names() -> None:
    document = fetched_to_dict(Fetched("c_1", "function", "f", ODD, 1, 2, "python", "def f():", 3, stale=True))
    assert set(document) == required(FetchedDocument)
    assert (document["filepath"], document["end_line"], document["stale"]) == (ODD, 2, True)


def test_an_outline_and_its_symbols_have_the_fields_that_their_documents_name() -> None:
    symbol = OutlineSymbol("p#f", "function", "f", "C.f", "def f(self)", "Do it.", 3, 4, 1)
    document = outline_to_dict(Outline("a.py", "python", "structure", 9, 30, ("os",), (symbol,), 0, "f", 1))
    assert set(document) == required(OutlineDocument)
    (row,) = document["symbols"]
    assert set(row) == required(OutlineSymbolDocument)
    assert (row["qualified_name"], row["start_line"], row["depth"]) == ("C.f", 3, 1)


def test_a_hit_and_its_neighbours_have_the_fields_that_their_documents_name() -> None:
    near = Neighbour("caller", ODD, 7, "function", "g", "exact")
    hit = CodeHit(
        "c_1", "function", "f", "a.py", 1, 2, "python", "def f", 3, 1.0, 1.0, "high", "",
        neighbours=(near,), qualified_name="f",
    )  # fmt: skip
    (row,) = answer_to_dict(Answer("q", "auto", "main", 1, (hit,), Coverage(1, 1, 0), 1.0, 1))["code"]
    assert required(HitDocument) | {"neighbours", "preview"} <= set(row) <= set(json_schema(HitDocument)["properties"])
    assert row["neighbours"] == [
        {"relation": "caller", "filepath": ODD, "line": 7, "kind": "function", "name": "g", "how": "exact"}
    ]
    assert set(row["neighbours"][0]) == required(NeighbourDocument)


def test_bytes_of_a_path_that_are_not_utf8_survive_json() -> None:
    document = fetched_to_dict(Fetched("c_1", "", "", ODD, 1, 1, "", "", 1))
    assert json.loads(json.dumps(document))["filepath"].encode("utf-8", "surrogateescape") == b"caf\xe9.py"
