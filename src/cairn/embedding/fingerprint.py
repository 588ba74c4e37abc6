"""Identifies the bundled model without loading it, so that a run that finds nothing to do does not import numpy."""

from __future__ import annotations

import json
from pathlib import Path

DATA = Path(__file__).parent / "data"


def bundled_fingerprint() -> str:
    """Return the fingerprint that `StaticModel.load()` would have."""
    about = json.loads((DATA / "static.json").read_text(encoding="utf-8"))
    fingerprint: str = about["fingerprint"]
    return fingerprint
