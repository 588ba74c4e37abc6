"""The `cairn` command, also as `python -m cairn`."""

import gc
import os
import sys

from cairn import __version__

TYPE_CHECKING = False  # as `typing` has it, whose import would be felt at every event of an agent
if TYPE_CHECKING:
    from typing import NoReturn

_HOOK = "cairn.hooks.entry"
_HELP = {"-h", "--help"}
# A command is short: collecting cycles while it starts would cost a tenth of its time.
_GC_THRESHOLDS = (75_000, 20, 50)


def run() -> "NoReturn":
    """Run one command as a process. A failure to load it does not exit with 1, which means that nothing was found."""
    _start_in_utf8()
    if sys.argv[1:2] == ["hook"] and not _HELP.intersection(sys.argv[2:4]):
        _run_hook()
    if sys.argv[1:] == ["--version"] and sys.stdout is not None:
        _print_version()
    gc.set_threshold(*_GC_THRESHOLDS)
    try:
        from cairn.cli.main import run as run_command  # noqa: PLC0415 - inside, so that a failure is reported
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException as error:  # noqa: BLE001 - the edge of the process
        reason = str(error) or "there is not enough memory"
        text = f"error[internal]: Cairn cannot be loaded: {reason}\n  try: uv tool install --reinstall codecairn\n"
        os.write(2, text.encode("utf-8", "replace"))
        os._exit(3)
    run_command()


def _start_in_utf8() -> None:
    """Start over in Python's UTF-8 mode where a locale or variable asks for other names of files than git has."""
    if sys.getfilesystemencoding() == "utf-8" or not sys.executable:
        return
    os.environ["PYTHONUTF8"] = "1"  # for the processes that this one starts
    try:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    except OSError:
        return  # names beyond ASCII cannot be used


def _print_version() -> None:
    """Print the version, without a parser, which would take half the time."""
    try:
        os.write(1, f"cairn {__version__}\n".encode("ascii"))
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            return  # the command reports it
    os._exit(0)


def _run_hook() -> "NoReturn":
    """Report an event of an agent, silent and with exit code 0 whatever happens: agents take the rest as a refusal."""
    try:
        __import__(_HOOK, fromlist=("run",)).run(sys.argv[2:])
    finally:
        os._exit(0)


if __name__ == "__main__":
    run()
