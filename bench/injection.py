"""Is a prompt answered by the memories that fit it, and by none if none does?

    python bench/injection.py                  # the development half at many thresholds, the judging half at ours
    python bench/injection.py --show           # what goes wrong in the development half
    python bench/injection.py --speed          # how long each event takes with 1,000 memories

Each of the ten projects of bench/recall.py has a memory of its own: the 20 that were written by hand, and 80 others
(--others). The prompts in bench/data/injection_prompts.txt were written by hand as people write them to an agent.
Behind the arrow stands how the memories begin that a colleague would point out, or nothing. Chit-chat is put to every
project.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cairn.memory.choosing import ACTIVE_NOTES
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.pertinence import LEAST_CHANCE
from cairn.memory.recall import Recollection
from cairn.workspace import Workspace
from recall import DEVELOPMENT, WrittenMemory, build, make_others, read_written

_IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
_PROMPTS = Path(__file__).parent / "data" / "injection_prompts.txt"
_CHIT_CHAT = "chit-chat"
_MOST = 3  # are shown at a prompt
_THRESHOLDS = [place / 20 for place in range(2, 20)]


class LabelledPrompt(NamedTuple):
    """A prompt, the project that it is put to, and how the memories begin that fit it."""

    project: str
    text: str
    fitting: tuple[str, ...]


class Answered(NamedTuple):
    """A prompt, how many memories fit it, and those that were found, each with whether it fits; the best first."""

    prompt: LabelledPrompt
    is_chit_chat: bool
    found: list[tuple[Recollection, bool]]
    seconds: float

    def shown(self, threshold: float) -> list[bool]:
        """Return of each memory that would be shown whether it fits."""
        return [fits for recollection, fits in self.found if recollection.relevance >= threshold][:_MOST]


def read_prompts() -> Iterator[LabelledPrompt]:
    """Yield the labelled prompts."""
    project = ""
    for line in _PROMPTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            project = line[2:]
        else:
            text, _, fitting = line.rpartition("=>")
            yield LabelledPrompt(project, text.strip(), tuple(filter(None, map(str.strip, fitting.split("|")))))


def answer_all(projects: Sequence[str], n_others: int) -> list[Answered]:
    """Put all prompts to the memories of their projects."""
    prompts = list(read_prompts())
    written = list(read_written())
    others = list(make_others(n_others * len({memory.project for memory in written}), 1))
    answered: list[Answered] = []
    for project in projects:
        own = [memory._replace(target="") for memory in [*written, *others] if memory.project == project]
        asked = [prompt for prompt in prompts if prompt.project in (project, _CHIT_CHAT)]
        with tempfile.TemporaryDirectory() as folder:
            answered += _answer(Path(folder), own, asked)
    return answered


def _answer(folder: Path, memories: list[WrittenMemory], prompts: Sequence[LabelledPrompt]) -> Iterator[Answered]:
    opened = build(folder, memories)
    opened.recall.search("warm up")
    for prompt in prompts:
        for start in prompt.fitting:
            assert sum(memory.text.startswith(start) for memory in memories) == 1, start
        begun = time.perf_counter()
        found = opened.recall.for_prompt(prompt.text, ACTIVE_NOTES, 0.0)
        seconds = time.perf_counter() - begun
        labelled = [(hit, hit.observation.text.startswith(prompt.fitting or ("\0",))) for hit in found]
        yield Answered(prompt, prompt.project == _CHIT_CHAT, labelled, seconds)
    opened.store.close()


def report(answered: Sequence[Answered], threshold: float) -> str:
    """Return in a line what happens at a threshold."""
    shown = [fits for prompt in answered for fits in prompt.shown(threshold)]
    with_memory = [prompt for prompt in answered if prompt.prompt.fitting]
    without = [prompt for prompt in answered if not prompt.prompt.fitting and not prompt.is_chit_chat]
    chit_chat = [prompt for prompt in answered if prompt.is_chit_chat]
    silent = [sum(not prompt.shown(threshold) for prompt in some) / max(1, len(some)) for some in (without, chit_chat)]
    reached = sum(any(prompt.shown(threshold)) for prompt in with_memory) / max(1, len(with_memory))
    precision = sum(shown) / max(1, len(shown))
    return (
        f"{threshold:.2f}  shown {len(shown):>4}  precision {precision:.3f}  prompts that get theirs {reached:.3f}"
        f"  nothing shown: other tasks {silent[0]:.3f}, chit-chat {silent[1]:.3f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="show what goes wrong in the development half")
    parser.add_argument("--speed", action="store_true", help="measure how long each event takes, and nothing else")
    parser.add_argument("--others", type=int, default=80, help="memories of each project that fit no prompt")
    arguments = parser.parse_args()
    if arguments.speed:
        with tempfile.TemporaryDirectory() as folder:
            time_events(Path(folder))
        return 0
    projects = list(dict.fromkeys(memory.project for memory in read_written()))
    development = answer_all([project for project in projects if project in DEVELOPMENT], arguments.others)
    judging = answer_all([project for project in projects if project not in DEVELOPMENT], arguments.others)
    for threshold in _THRESHOLDS:
        print(report(development, threshold))
    print("\njudging half, at the threshold in use")
    print(report(judging, LEAST_CHANCE))
    times = [prompt.seconds for prompt in [*development, *judging]]
    print(f"p50 {1000 * statistics.median(times):.1f} ms")
    if arguments.show:
        show(development)
    return 0


def time_events(folder: Path) -> None:
    """Print how long it takes to compose what is shown at each event, warm, in a checkout with 1,000 memories."""
    memories = [*read_written(), *make_others(800, 1)]
    for memory in memories:
        file = folder / memory.target.partition("::")[0]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.utime(file, (1e9, 1e9))
    later = [[*_IDENTITY, "commit", "-qm", "later", "--allow-empty"]] * 5
    for arguments in (["init", "-q"], ["add", "."], [*_IDENTITY, "commit", "-qm", "all"], *later):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    build(folder, [memory._replace(target=memory.target.partition("::")[0]) for memory in memories]).store.close()
    prompts = [prompt.text for prompt in read_prompts()]
    with Workspace.open(folder) as workspace:
        for event in ("session-start", "prompt", "before-tool", "subagent-start"):
            seconds: list[float] = []
            for number in range(60):
                call = ToolCall("read", "Read", memories[number % 200].target.partition("::")[0])
                moment = Moment(f"{event} {number}", event, f"{event} {number}", "bench", time.time())
                moment = moment._replace(call=call, text=prompts[number], details={"source": "startup"})
                workspace.memory.inbox.take_in(moment)
                begun = time.perf_counter()
                workspace.memory.injection.compose(moment)
                seconds.append(time.perf_counter() - begun)
            warm = sorted(seconds[5:])
            print(f"{event:<15} p50 {1000 * statistics.median(warm):5.1f} ms  p95 {1000 * warm[-3]:5.1f} ms")


def show(answered: Sequence[Answered]) -> None:
    """Print the prompts that miss their memory, and what is shown wrongly."""
    for prompt in answered:
        wrong = [hit for hit, fits in prompt.found[:_MOST] if hit.relevance >= LEAST_CHANCE and not fits]
        right = [f"{hit.relevance:.2f}" for hit, fits in prompt.found if fits]
        if wrong or (prompt.prompt.fitting and not any(prompt.shown(LEAST_CHANCE))):
            print(f"\n{prompt.prompt.text}\n   wanted {prompt.prompt.fitting}, found at {right}")
            for recollection in wrong:
                print(f"   {recollection.relevance:.2f} {recollection.observation.text[:110]}  ({recollection.why})")


if __name__ == "__main__":
    sys.exit(main())
