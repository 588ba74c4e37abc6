"""Draws docs/terminal.svg, the picture in the README, from commands that it runs.

    python bench/picture.py

The commands run on a copy of tests/docs/project in a terminal of their own, so that the picture shows what a user sees.
A test draws it again and compares.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ROOT / "tests" / "docs" / "project"
PICTURE = ROOT / "docs" / "terminal.svg"
COMMAND = Path(sys.executable).parent / "cairn"

COMMANDS = (
    'cairn search "how are failed payments retried" -n 1',
    "cairn search '\"session expired\"'",
    "cairn impact backoff",
    'cairn search "kubernetes ingress certificates"',
)

_COLUMN_PX, _LINE_PX, _MARGIN_PX, _BAR_PX = 8.4, 20, 20, 36
_COLUMNS = 106
_SECONDS = 60
_SEQUENCE = re.compile(r"\x1b\[([\d;]*)m")
_CLASSES = {"1": "bold", "2": "faint", "33": "mark", "36": "path"}
_STYLE = """
    .frame { fill: #f6f8fa; stroke: #d0d7de }
    text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #24292f;
           white-space: pre }
    .bold, .prompt { font-weight: 600 }
    .faint { fill: #57606a }
    .path { fill: #0550ae }
    .mark { fill: #953800; font-weight: 600 }
    .prompt { fill: #116329 }
    @media (prefers-color-scheme: dark) {
      .frame { fill: #0d1117; stroke: #30363d }
      text { fill: #e6edf3 }
      .faint { fill: #9da7b3 }
      .path { fill: #79c0ff }
      .mark { fill: #ffa657 }
      .prompt { fill: #7ee787 }
    }"""

Span = tuple[str, str]  # a class, or nothing, and the text that has it


def make_project(folder: Path, state: Path) -> dict[str, str]:
    """Copy the project of the documentation into `folder`, as a git repository.

    Returns:
        the environment in which commands run there: no user settings, all state below `state`, and no daemon.
    """
    shutil.copytree(PROJECT, folder, dirs_exist_ok=True)
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=folder, check=True)
    _commit(folder)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CAIRN_", "GIT_", "NO_COLOR"))}
    homes = {f"XDG_{kind}_HOME": str(state / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
    git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return {**kept, **homes, **git, "CAIRN_DAEMON": "0", "TERM": "xterm-256color"}


# How the project came about: on which day in March 2026, in which words, with which files.
_STEPS = (
    (2, "Sell things in a shop", ("src/shop/__init__.py", "src/shop/errors.py", "src/shop/settings.py", "shop.toml")),
    (3, "Round prices to whole cents", ("src/shop/cart.py", "tests/test_cart.py")),
    (5, "Retry payments when the bank is busy", ("src/shop/payments.py", "src/shop/routes.py")),
    (9, "Let sessions expire", ("src/shop/sessions.py", "tests/test_sessions.py")),
    (12, "Show the cart on the web", ("web/api.ts", "README.md")),
)


def _commit(folder: Path) -> None:
    """Commit the project in steps that are the same each time, down to the hashes."""
    person = {"NAME": "A", "EMAIL": "a@example.org"}
    for day, message, files in _STEPS:
        date = f"2026-03-{day:02}T12:00:00+0000"
        who = {
            f"GIT_{role}_{what}": text
            for role in ("AUTHOR", "COMMITTER")
            for what, text in {**person, "DATE": date}.items()
        }
        nothing = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        for arguments in (("add", "--", *files), ("commit", "--quiet", "-m", message)):
            subprocess.run(["git", *arguments], cwd=folder, check=True, env={**os.environ, **nothing, **who})


def run_in_terminal(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Run one `cairn ...` command line on a terminal, and return what it prints there, colours included."""
    main_end, command_end = pty.openpty()
    arguments = [str(COMMAND), *shlex.split(command)[1:]]
    with subprocess.Popen(arguments, cwd=folder, env=environment, stdout=command_end, stderr=command_end) as process:
        os.close(command_end)
        output = b"".join(_chunks(main_end))
        process.wait(_SECONDS)
    os.close(main_end)
    return output.decode().replace("\r\n", "\n")


def _chunks(descriptor: int) -> Iterator[bytes]:
    """Yield what is written to a terminal until its other end is closed, which Linux reports as an error."""
    while True:
        try:
            data = os.read(descriptor, 65_536)
        except OSError:
            return
        if not data:
            return
        yield data


def parse_line(line: str) -> list[Span]:
    """Split a line of terminal output where its colour changes; of a progress bar, keep what is left in its place."""
    spans: list[Span] = []
    parts = _SEQUENCE.split(line.rpartition("\r")[2].removeprefix("\x1b[K").rstrip())
    name = ""
    for text, code in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if text:
            spans.append((name, text))
        name = _CLASSES.get(code, "")
    return spans


def draw(lines: Sequence[Sequence[Span]]) -> str:
    """Return an SVG of a terminal that shows `lines`, readable on light and dark pages."""
    width = round(_COLUMNS * _COLUMN_PX + 2 * _MARGIN_PX)
    height = _BAR_PX + len(lines) * _LINE_PX + _MARGIN_PX
    dots = "".join(
        f'<circle cx="{_MARGIN_PX + 20 * number}" cy="18" r="6" fill="{colour}"/>'
        for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    rows = "\n".join(_draw_line(spans, number) for number, spans in enumerate(lines) if spans)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img">\n  <title>cairn in a terminal</title>\n  <style>{_STYLE}\n  </style>\n'
        f'  <rect class="frame" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10"/>\n'
        f"  {dots}\n{rows}\n</svg>\n"
    )


def _draw_line(spans: Sequence[Span], number: int) -> str:
    """Return one line as an element; each span says at which column it begins, whatever the font."""
    y = _BAR_PX + number * _LINE_PX + 14
    parts, column = [], 0
    for name, text in spans:
        x = _MARGIN_PX + column * _COLUMN_PX
        mark = f' class="{name}"' if name else ""
        parts.append(f'<tspan x="{x:.1f}"{mark}>{escape(text, quote=False)}</tspan>')
        column += len(text)
    return f'  <text y="{y}" xml:space="preserve">{"".join(parts)}</text>'


def take_picture() -> str:
    """Run the commands on a fresh copy of the project, and return the picture of them."""
    lines: list[list[Span]] = []
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "shop"
        environment = make_project(project, Path(folder) / "state")
        run_in_terminal("cairn index", project, environment)
        for command in COMMANDS:
            lines.append([("prompt", "$ "), ("bold", command)])
            printed = run_in_terminal(command, project, environment).rstrip("\n")
            lines.extend([*map(parse_line, printed.split("\n")), []])
    return draw(lines[:-1])


def main() -> None:
    """Write the picture."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    PICTURE.write_text(take_picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
