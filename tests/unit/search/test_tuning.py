"""A tuning changes what answers use, and only one that was written here is believed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from cairn.index.seal import Seal
from cairn.search.query import understand
from cairn.search.score import Weights
from cairn.search.tuning import (
    SHIPPED,
    Bars,
    Tuning,
    Tunings,
    describe_tuning,
    dump_tuning,
    load_tuning,
    opening_of,
    parse_tuning,
    shipped_digest,
)

SECRET = "5" * 64
TUNED = Tuning(
    3,
    changes=Weights(test=-0.1, recent=0.4),
    openings=frozenset({"teach"}),
    expansions={"purs": (("wallet", 0.9),)},
    scopes=frozenset({"router", "http/2"}),
    bars=Bars(answers=0.6),
)


def test_a_tuning_that_was_written_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "tuning.json"
    file.write_bytes(dump_tuning(TUNED, SECRET))
    assert load_tuning(file, SECRET) == (TUNED, "")
    assert dump_tuning(load_tuning(file, SECRET)[0], SECRET) == file.read_bytes()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number", 0),
        ("format", 1),
        ("shipped", "00"),
        ("changes", {"test": math.nan}),
        ("changes", {"test": 9.0}),
        ("changes", {"unknown": 0.1}),
        ("changes", []),
        ("history_share", 1.5),
        ("openings", ["two words"]),
        ("scopes", ["\n"]),
        ("expansions", {"a": []}),
        ("expansions", {"a": [["b", 7]]}),
        ("bars", {"answers": 2.5}),
        ("bars", {"memories": math.nan}),
        ("bars", {"doors": 1.0}),
        ("bars", [1.0]),
        ("more", 1),
    ],
)
def test_a_value_out_of_bounds_makes_the_whole_tuning_invalid(field: str, value: object) -> None:
    document = {**describe_tuning(TUNED), field: value}
    with pytest.raises(ValueError, match=r"."):
        parse_tuning(document)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"{}"])
def test_a_file_that_is_no_tuning_leaves_the_shipped_values(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "tuning.json"
    file.write_bytes(content)
    tuning, problem = load_tuning(file, SECRET)
    assert tuning is SHIPPED
    assert problem


def test_a_tuning_that_somebody_else_wrote_is_not_believed(tmp_path: Path) -> None:
    file = tmp_path / "tuning.json"
    file.write_bytes(dump_tuning(TUNED, "6" * 64))
    assert load_tuning(file, SECRET) == (SHIPPED, "it was not written here")
    altered = json.loads(dump_tuning(TUNED, SECRET)) | {"number": 4}
    file.write_text(json.dumps(altered))
    assert load_tuning(file, SECRET)[0] is SHIPPED


def test_a_tuning_means_nothing_with_other_trees_than_it_was_measured_with(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.json", "same.json", "other.json")]
    for file, content in zip(files, ("1", "1", "2"), strict=True):
        file.write_text(content)
    one, same, other = (shipped_digest((file,)) for file in files)
    assert one == same
    assert len({one, other, shipped_digest(), shipped_digest((tmp_path / "missing.json",))}) == 4


def test_a_tuning_is_read_again_once_its_file_was_replaced(tmp_path: Path) -> None:
    file = tmp_path / "tuning.json"
    tunings = Tunings(file, lambda: Seal("1", SECRET))
    assert tunings.open() is SHIPPED
    file.write_bytes(dump_tuning(TUNED, SECRET))
    assert tunings.open() == TUNED
    assert tunings.open() is tunings.open()
    file.unlink()
    assert tunings.open() is SHIPPED


def test_a_change_is_known_by_how_the_project_words_its_changes() -> None:
    assert not SHIPPED.asks_for_change("Teach the parser to read tabs")
    assert TUNED.asks_for_change("http: teaches the parser to read tabs")
    assert TUNED.asks_for_change("fix(router): tabs of the parser")
    assert not TUNED.asks_for_change("parser: tabs")
    assert TUNED.weights_for("Teach the parser tabs").test == -0.1
    assert TUNED.weights_for("parser of tabs") == Weights()
    assert opening_of("fix(core)!: Mend it") == "mend"


def test_a_word_of_the_query_brings_the_words_that_it_stands_for() -> None:
    query = understand("purse of the player", "hybrid")
    expanded = TUNED.expand(query)
    weights = {term.text: term.weight for term in expanded.terms}
    assert "wallet" in expanded.words
    assert weights["wallet"] > weights["purs"] > 0
    assert SHIPPED.expand(query) is query
    assert TUNED.expand(understand("upload of files", "hybrid")).words == ("upload", "files")
