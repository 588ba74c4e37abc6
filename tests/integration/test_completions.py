"""The completions of shells, asked of the shells themselves where they are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cairn.cli.commands import build_parser
from cairn.cli.completions import CompletionEntry, read_entries, write_bash, write_fish, write_manual, write_zsh


@pytest.fixture(scope="module")
def entries() -> list[CompletionEntry]:
    return list(read_entries(build_parser()))


def ask(*command: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


CASES = [
    (["cairn", "sear"], ["search"]),
    (["cairn", "-C", "x", "sear"], ["search"]),
    (["cairn", "search", "--lim"], ["--limit"]),
    (["cairn", "search", "x", "--mode", "lit"], ["literal"]),
    (["cairn", "core", "sug"], ["suggest"]),
    (["cairn", "memories", "show", "--js"], ["--json"]),
]


@pytest.mark.parametrize(("words", "offered"), CASES, ids=lambda value: " ".join(value))
def test_bash_completes(words: list[str], offered: list[str], entries: list[CompletionEntry], tmp_path: Path) -> None:
    script = tmp_path / "cairn.bash"
    script.write_text(write_bash(entries))
    asked = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cairn; printf "%s\\n" "${COMPREPLY[@]}"'
    assert ask("bash", "-c", asked, str(script), *words) == offered


def test_bash_offers_files_where_a_value_or_an_argument_is_wanted(
    entries: list[CompletionEntry], tmp_path: Path
) -> None:
    script = tmp_path / "cairn.bash"
    script.write_text(write_bash(entries))
    asked = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cairn; printf "%s\\n" "${#COMPREPLY[@]}"'
    for words in (["cairn", "-C", "s"], ["cairn", "search", "x", "--in", "s"], ["cairn", "outline", "src/"]):
        assert ask("bash", "-c", asked, str(script), *words) == ["0"]
    assert "complete -o default -F _cairn cairn\n" in script.read_text()


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("words", "offered"), CASES, ids=lambda value: " ".join(value))
def test_fish_completes(words: list[str], offered: list[str], entries: list[CompletionEntry], tmp_path: Path) -> None:
    script = tmp_path / "cairn.fish"
    script.write_text(write_fish(entries))
    asked = f"source {script}; complete -C '{' '.join(words)}'"
    assert [line.split("\t")[0] for line in ask("fish", "--no-config", "-c", asked)] == offered


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_loads_its_completion(entries: list[CompletionEntry], tmp_path: Path) -> None:
    (tmp_path / "_cairn").write_text(write_zsh(entries))
    asked = "fpath=($0 $fpath); autoload -Uz compinit; compinit -u -D; autoload +X -Uz _cairn; print ${_comps[cairn]}"
    assert ask("zsh", "-f", "-c", asked, str(tmp_path)) == ["_cairn"]


def test_every_command_action_and_option_is_completed_and_in_the_manual(entries: list[CompletionEntry]) -> None:
    keys = {entry.key for entry in entries}
    assert {"", "search", "core add", "memories show", "daemon logs", "config set"} < keys
    texts = {write: write(entries) for write in (write_bash, write_fish, write_zsh, write_manual)}
    manual = texts[write_manual].replace("\\-", "-")
    for entry in entries:
        assert f'"{entry.key}") words=' in texts[write_bash]
        assert f"{'_'.join(['_cairn', *entry.words])}() {{" in texts[write_zsh]
        for name in entry.inner:
            assert f" -a {name} " in texts[write_fish]
            assert f".SS cairn {' '.join([*entry.words, name])}\n" in manual
        for flag in entry.flags if entry.words else ():
            assert f"\\fB{', '.join(flag.names)}\\fR" in manual


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_page_can_be_typeset(entries: list[CompletionEntry], tmp_path: Path) -> None:
    page = tmp_path / "cairn.1"
    page.write_text(write_manual(entries))
    shown = "\n".join(ask("groff", "-man", "-ww", "-Tascii", "-P-cbou", str(page)))
    assert "cairn - codebase intelligence for AI coding agents" in shown
    assert "cairn search --lang" not in shown.partition("COMMANDS")[0]
