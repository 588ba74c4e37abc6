"""How names and imports of Bash find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import NO_FLAG, Parts
from cairn.source.languages.rules import Rules

RULES = Rules("", finder="file", package="all")
# The path after `source`, and its part without variables and commands: `lib/x.sh` in `"$(dirname "$0")/lib/x.sh"`.
_STATEMENT = re.compile(
    r"\s*(?:source|\.)\s+(?:--\s+)?((?:\"(?:\$\([^)]*\)|[^\"])*\"|'[^']*'|\$\([^)]*\)|\$\{[^}]*\}|\S)+)"
)
_GIVEN = re.compile(r".*[$})`]\w*/|[\"']")


def read_import(text: str) -> Parts:
    """Read `source lib.sh` and `. "$FOLDER/lib.sh"`: a file whose names need no qualification."""
    match = _STATEMENT.match(text)
    path = _GIVEN.sub("", match[1]) if match else ""
    if path and not path.startswith(("/", "~", "<")) and "$" not in path and "`" not in path:
        yield path, "*", "", NO_FLAG
