"""What a search found, a line for each hit or file: for other programs, with paths as they are from here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from cairn.cli.notes import openable, printable
from cairn.cli.places import Standpoint
from cairn.cli.render import emit

if TYPE_CHECKING:
    from cairn.protocol.documents import HitDocument, SearchDocument

Form = Literal["files", "count", "oneline"]


def print_lines(document: SearchDocument, form: Form, here: Standpoint) -> None:
    """Print the hits: each file once, each file with the number of its hits, or each hit on one line.

    Args:
        document: with the hits.
        form: of the lines.
        here: from where paths are shown.
    """
    if form == "oneline":
        for hit in document["code"]:
            preview = hit.get("preview", "").split("\n", 1)[0]
            emit(f"{_file_of(hit, here)}:{hit['start_line']}:{printable(preview)}")
        return
    for file, n_hits in Counter(_file_of(hit, here) for hit in document["code"]).items():
        emit(f"{file}:{n_hits}" if form == "count" else file)


def _file_of(hit: HitDocument, here: Standpoint) -> str:
    return openable(f"{hit['project']}:{hit['filepath']}" if "project" in hit else here.show(hit["filepath"]))
