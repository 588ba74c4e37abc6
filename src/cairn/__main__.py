"""The `cairn` command, also as `python -m cairn`."""

import gc
import os
import sys

from cairn import __version__

TYPE_CHECKING = False  # like `typing.TYPE_CHECKING`, whose import would be felt at every hook event
if TYPE_CHECKING:
    from typing import NoReturn

_HOOK = "cairn.hooks.entry"
_HELP = {"-h", "--help"}
# A command is short, and garbage collection while it starts would cost a tenth of its time.
_GC_THRESHOLDS = (75_000, 20, 50)


def run() -> "NoReturn":
    """Run one command as a process. A failure to load it must not exit with 1, which means that nothing was found."""
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
    """Restart in Python's UTF-8 mode if the locale or a variable asks for another encoding of file names than git's."""
    if sys.getfilesystemencoding() == "utf-8" or not sys.executable:
        return
    os.environ["PYTHONUTF8"] = "1"  # for child processes
    try:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    except OSError:
        return  # non-ASCII names cannot be used


def _print_version() -> None:
    """Print the version without a parser, which would take half of the time."""
    try:
        os.write(1, f"cairn {__version__}\n".encode("ascii"))
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            return  # the command itself reports the problem
    os._exit(0)


def _run_hook() -> "NoReturn":
    """Report a hook event, always silently and with exit code 0, since agents take anything else as a denial."""
    try:
        __import__(_HOOK, fromlist=("run",)).run(sys.argv[2:])
    finally:
        os._exit(0)


if __name__ == "__main__":
    run()
