from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

from collect import Source

TRAINING = Path(__file__).resolve().parents[3] / "training"
PACKAGES: list[dict[str, Any]] = json.loads((TRAINING / "questions.json").read_text(encoding="utf-8"))
SOURCES = {Source(**entry).folder for entry in json.loads((TRAINING / "sources.json").read_text(encoding="utf-8"))}


def test_every_package_asked_about_is_a_listed_source() -> None:
    folders = [package["source"] for package in PACKAGES]
    assert sorted(set(folders) - SOURCES) == []
    assert len(folders) == len(set(folders))


def test_every_question_is_asked_once_and_names_files_below_its_folder() -> None:
    for package in PACKAGES:
        queries = [question["query"] for question in package["questions"]]
        assert len(queries) == len(set(queries))
        paths = [PurePosixPath(path) for question in package["questions"] for path in question["relevant"]]
        assert len(paths) >= len(queries)
        assert not [path for path in paths if path.is_absolute() or ".." in path.parts]
