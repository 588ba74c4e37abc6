"""What scripts share that damage something and see what becomes of it: options, the loop, running without rights."""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple


class Outcome(NamedTuple):
    """What was done, how it came right again, and what was wrong then: nothing, if all is well."""

    what: str
    how: str
    wrong: str


def reads_everything() -> bool:
    """Tell whether permissions do not hold for this process, as for root."""
    with tempfile.NamedTemporaryFile() as file:
        os.chmod(file.name, 0)
        return os.access(file.name, os.R_OK)


def run_without_rights(script: str, number: int, seed: int) -> Outcome:
    """Do the damage of a number in a process that may not read every file, as root may."""
    command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", sys.executable, script]
    command += ["--first", str(number), "--seed", str(seed), "--report"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return Outcome(*json.loads(done.stdout))
    except (TypeError, ValueError):
        return Outcome("forbid", "", f"the process ended: {done.stderr[-1_500:]}")


def run(description: str, noun: str, count: int, damage: Callable[[int, int], Outcome]) -> None:
    """Do what the command line asks for, print what did not come right, and count the rest.

    Args:
        description: of the script.
        noun: what is counted, which is also the option that says how many.
        count: how many by default.
        damage: does the one of a number and a seed.
    """
    parser = argparse.ArgumentParser(description=description.split("\n", 1)[0])
    parser.add_argument(f"--{noun}", type=int, default=count, dest="count")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="only print what became of the first one")
    options = parser.parse_args()
    if options.report:
        print(json.dumps(damage(options.first, options.seed)))
        return
    hows: collections.Counter[str] = collections.Counter()
    n_failed = 0
    for number in range(options.first, options.first + options.count):
        outcome = damage(number, options.seed)
        hows[outcome.how] += 1
        if outcome.wrong:
            n_failed += 1
            print(json.dumps({"number": number, **outcome._asdict()}), file=sys.stderr, flush=True)
    print(json.dumps({noun: options.count, "right again": options.count - n_failed, "how": dict(hows.most_common())}))
