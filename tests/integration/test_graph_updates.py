"""After any change of files, the edges that are kept and found are those that resolving everything again gives."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cairn.graph.graph import Graph
from cairn.graph.network import Network
from cairn.graph.nodes import file_of, place_of
from cairn.workspace import Workspace

FOLDERS = Path(__file__).parent / "projects"
ROUNDS = 12

Rows = tuple[set[tuple[object, ...]], ...]
Edit = Callable[[random.Random, Path, Sequence[Path]], None]


def rows_of(graph: Graph, network: Network) -> Rows:
    """Return edges, imports and overrides, with paths for the numbers of files."""
    paths = graph.code.paths

    def name(node: int) -> tuple[str, int]:
        return paths[file_of(node)], place_of(node)

    edges = (network.sources, network.targets, network.kinds, network.hows, network.lines)
    imports = (network.importing, network.imported, network.import_lines, network.import_flags)
    overrides = (network.overriding, network.overridden)
    return (
        {(name(one), name(other), *rest) for one, other, *rest in zip(*(x.tolist() for x in edges), strict=True)},
        {(paths[one], paths[other], *rest) for one, other, *rest in zip(*(x.tolist() for x in imports), strict=True)},
        {(name(one), name(other)) for one, other in zip(*(x.tolist() for x in overrides), strict=True)},
    )


def made_anew(root: Path, state: Path) -> Rows:
    """Return what resolving every file gives, with nothing known before."""
    with Workspace.open(root, state_dir=state) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        graph.code.load_all()
        return rows_of(graph, Network.build(graph.code, graph.resolver))


def delete(chance: random.Random, _root: Path, files: Sequence[Path]) -> None:
    chance.choice(files).unlink()


def add_copy(chance: random.Random, root: Path, files: Sequence[Path]) -> None:
    """Add a file like another one, in any folder."""
    one, other = chance.choice(files), chance.choice(files)
    new = other.with_name(f"{chance.choice(['also', 'base', 'util', one.stem])}{one.suffix}")
    if not new.exists():
        shutil.copy(one, new)


def rename(chance: random.Random, _root: Path, files: Sequence[Path]) -> None:
    one = chance.choice(files)
    one.rename(one.with_name(f"{chance.choice(['moved', 'base', one.stem[::-1]])}{one.suffix}"))


def move(chance: random.Random, _root: Path, files: Sequence[Path]) -> None:
    one, other = chance.choice(files), chance.choice(files)
    one.rename(other.with_name(one.name))


def rename_word(chance: random.Random, _root: Path, files: Sequence[Path]) -> None:
    """Give a word of a file another name, or that of another word in it."""
    one = chance.choice(files)
    text = one.read_text("utf-8")
    words = sorted(set(re.findall(r"[A-Za-z_]{4,}", text)))
    if words:
        one.write_text(re.sub(rf"\b{chance.choice(words)}\b", chance.choice([*words, "renamed"]), text), "utf-8")


def drop_lines(chance: random.Random, _root: Path, files: Sequence[Path]) -> None:
    one = chance.choice(files)
    lines = one.read_text("utf-8").splitlines(keepends=True)
    first = chance.randrange(len(lines) + 1)
    one.write_text("".join(lines[:first] + lines[first + chance.randrange(1, 4) :]), "utf-8")


def repeat_lines(chance: random.Random, _root: Path, files: Sequence[Path]) -> None:
    one = chance.choice(files)
    lines = one.read_text("utf-8").splitlines(keepends=True)
    first = chance.randrange(len(lines) + 1)
    one.write_text("".join([*lines, "\n", *lines[first : first + 6]]), "utf-8")


EDITS: tuple[Edit, ...] = (delete, add_copy, rename, move, rename_word, rename_word, drop_lines, repeat_lines)


def change(chance: random.Random, root: Path) -> str:
    """Change some files and return how, for whoever has to find out why it went wrong."""
    done = []
    for _ in range(chance.choice([1, 1, 2, 4])):
        edit = chance.choice(EDITS)
        edit(chance, root, sorted(path for path in root.rglob("*") if path.is_file() and ".cairn" not in path.parts))
        done.append(edit.__name__)
    return ", ".join(done)


@pytest.mark.parametrize("seed", [1, 2])
def test_after_random_changes_the_edges_are_those_of_a_fresh_resolution(tmp_path: Path, seed: int) -> None:
    root = tmp_path / "project"
    shutil.copytree(FOLDERS, root)
    chance = random.Random(seed)
    with Workspace.open(root) as workspace:
        workspace.index()
        kept = workspace.graph.current().network.resolved
        resolved = total = 0
        for turn in range(ROUNDS):
            done = change(chance, root)
            if chance.random() < 0.3:
                assert workspace.graph.current().network is not None  # as it is on disk, the index not being updated
            workspace.index()
            graph = workspace.graph.current()
            expected = made_anew(root, tmp_path / "fresh")
            found = rows_of(graph, graph.network)
            assert found == expected, (turn, done)
            resolved, total = resolved + graph.network.resolved, total + len(graph.code.paths)
    assert kept > 0
    assert resolved < total / 2


def test_a_file_that_comes_or_goes_costs_only_what_it_can_affect(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for number in range(40):
        (root / f"part{number}.py").write_text(
            f"from helper{number % 8} import helper\n\n\ndef work():\n    helper()\n"
        )
    for number in range(8):
        (root / f"helper{number}.py").write_text("def helper():\n    pass\n")
    with Workspace.open(root) as workspace:
        workspace.index()
        assert workspace.graph.current().network.resolved == 48
        (root / "helper3.py").unlink()
        workspace.index()
        assert workspace.graph.current().network.resolved == 5  # those that imported it
        (root / "helper3.py").write_text("def helper():\n    return 1\n")
        workspace.index()
        assert workspace.graph.current().network.resolved == 6
        (root / "alone.py").write_text("def alone():\n    pass\n")
        workspace.index()
        assert workspace.graph.current().network.resolved == 1
        assert rows_of(workspace.graph.current(), workspace.graph.current().network) == made_anew(
            root, tmp_path / "fresh"
        )
