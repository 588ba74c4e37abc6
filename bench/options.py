"""Is the line that declares an option of a command line found by its name?

    python bench/options.py --repos REPOS --state INDEXES --misses

REPOS holds clones of programs in seven languages, each under its name at GitHub (see `DECLARED`). Fifteen options of
each are asked for in four ways.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from cairn.answers import CodeHit
from cairn.workspace import Workspace
from metrics import count_place, print_places

FORMS = {
    "alone": "--{}",
    "where": "where is the --{} option handled",
    "like": "add an option like --{}",
    "statement": "--{} is ignored when the output is not a terminal",
}
# By repository: which files declare options, what a declaration looks like, and how many lines before and after that
# belong to it.
DECLARED = {
    "fd": (r"^src/cli\.rs$", r"#\[arg\((?:[^#]*?)long\b(?!\s*=)[^#]*?\)\]\s*(?:pub )?([a-z_]+):", 30, 1),
    "bat": (r"clap_app\.rs$", r'\.long\("([\w-]+)"\)', 2, 2),
    "hyperfine": (r"^src/cli\.rs$", r'\.long\("([\w-]+)"\)', 2, 2),
    "cli": (r"^pkg/cmd/.*(?<!_test)\.go$", r'Flags\(\)\.\w+\([^"\n]*"([\w-]+)"', 0, 0),
    "yt-dlp": (r"^yt_dlp/options\.py$", r"^\s+(?:'-\w', )?'--([\w-]+)'", 1, 1),
    "rubocop": (r"^lib/rubocop/options\.rb$", r"option\(opts, (?:'-\w', )?'--(?:\[no-\])?([\w-]+)", 2, 2),
    "composer": (r"^src/Composer/Command/.*\.php$", r"new InputOption\('([\w-]+)'", 0, 0),
    "httpie": (r"^httpie/cli/definition\.py$", r"^\s+'--([\w-]+)'", 2, 1),
    "mocha": (r"^lib/cli/run-option-metadata", r'^\s+"?([\w-]+)"?(?::|,)', 0, 0),
    "black": (r"^src/black/__init__\.py$", r'^\s+"--([\w-]+)"', 2, 1),
    "eslint": (r"^lib/options\.js$", r'option: "([\w-]+)"', 2, 1),
}
_ASKED, _LEAST_CHARS, _MOST_FILES = 15, 4, 3


class Lines(NamedTuple):
    """Lines of a file that declare an option."""

    path: str
    first: int
    last: int

    def are_in(self, hit: CodeHit) -> bool:
        """Tell whether a hit shows one of the lines."""
        return hit.path == self.path and hit.start_line <= self.last and hit.end_line >= self.first


def declared_in(root: Path, files: str, declaration: str, before: int, after: int) -> dict[str, list[Lines]]:
    """Return where the options of a program are declared, by their names."""
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[Lines]] = defaultdict(list)
    for path in filter(re.compile(files).search, listed.splitlines()):
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        for match in re.finditer(declaration, text, re.MULTILINE):
            number = text.count("\n", 0, match.start(1)) + 1
            found[match[1].replace("_", "-")].append(Lines(path, number - before, number + after))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True, metavar="FOLDER", help="the clones, side by side")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="keep the indexes here")
    parser.add_argument("--misses", action="store_true", help="show what comes first instead")
    options = parser.parse_args()
    rng, counts = random.Random(3), Counter[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as temporary:
        for name, (files, declaration, before, after) in DECLARED.items():
            root = options.repos / name
            if not root.is_dir():
                print(f"{name} is not there")
                continue
            declared = declared_in(root, files, declaration, before, after)
            names = [
                one
                for one, lines in declared.items()
                if len(one) >= _LEAST_CHARS and len({line.path for line in lines}) <= _MOST_FILES
            ]
            rng.shuffle(names)
            with Workspace.open(root, state_dir=(options.state or Path(temporary)) / name) as workspace:
                if not workspace.is_indexed:
                    workspace.index()
                for option in names[:_ASKED]:
                    for form, question in FORMS.items():
                        hits = workspace.search(question.format(option), type="code").code[:5]
                        places = [any(lines.are_in(hit) for lines in declared[option]) for hit in hits]
                        place = places.index(True) + 1 if any(places) else 0
                        count_place(counts, form, place, hits[0].confidence if hits else None)
                        if options.misses and place != 1:
                            shown = f"{hits[0].path}:{hits[0].start_line}" if hits else "nothing"
                            print(f"{name}  {form}  --{option}: {shown}, not {declared[option][0]}")
    print_places(counts, FORMS)


if __name__ == "__main__":
    main()
