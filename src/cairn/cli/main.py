"""Runs one command, and turns every outcome into an exit code."""

from __future__ import annotations

import codecs
import io
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from cairn.cli.commands import build_parser
from cairn.cli.limits import check_limits
from cairn.cli.notes import carry, note
from cairn.cli.outcomes import EXIT_FOUND, EXIT_INTERRUPTED, EXIT_USAGE
from cairn.cli.parser import in_order, parse
from cairn.errors import CairnError, InternalError, resource_error
from cairn.hints import FIELDS_PAGE, Hint
from cairn.loading import load
from cairn.warning import listen

# Starting a thread pool for linear algebra takes a third of numpy's import, and the products here are small.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 found or done, 1 nothing found, 2 usage, 3 the store or the system.

    An error never exits with 1, which means that nothing was found.
    """
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    arguments = in_order(sys.argv[1:] if argv is None else argv)
    parser = build_parser(arguments[0] if arguments else "")
    options = parse(parser, arguments)
    if not hasattr(options, "run"):
        sys.stdout.write(parser.format_help())
        return EXIT_USAGE
    color = getattr(options, "color", "auto")
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("carry", carry)
        # Not every terminal can show every character; other programs get names of files as they are.
        sys.stdout.reconfigure(errors="backslashreplace" if sys.stdout.isatty() else "carry")
    try:
        check_limits()
        if color != "auto":
            load("cairn.cli.color:choose")(color)
        if arguments[0] != "daemon":  # `cairn daemon` gives warnings in its answers
            listen(note)
        code: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _end_early(arguments[0])
    except BrokenPipeError:
        _discard_output()  # the reader has closed the pipe
        return EXIT_FOUND
    except Exception as error:  # noqa: BLE001 - the edge of the process; it is logged
        return _end(error, arguments[0], as_json=options.json)
    finally:
        listen(None)
        if color != "auto":
            load("cairn.cli.color:choose")("auto")
    return code


def _end_early(command: str) -> int:
    """Say that the user interrupted a command, and what becomes of its work; return the exit code."""
    with suppress(OSError):
        note("Interrupted; what is done is kept. Go on with: cairn index" if command == "index" else "Interrupted.")
    return EXIT_INTERRUPTED


def _end(error: Exception, command: str, *, as_json: bool) -> int:
    """Report what went wrong in a command and return the exit code."""
    shown = error if isinstance(error, CairnError) else resource_error(error)
    if shown is None:
        import logging  # noqa: PLC0415 - start-up time: this should never happen

        logging.getLogger("cairn").error("internal error", exc_info=error)
        shown = InternalError(
            f"{type(error).__name__}: {error}",
            Hint("report it with the lines above; this may show the cause", "doctor"),
        )
    elif shown is not error:
        error.__traceback__ = error.__context__ = None  # frees the memory that may be short
    if shown.hint == FIELDS_PAGE:
        shown.hint = Hint("see what it takes", command, help=True)
    try:
        _report(shown, as_json=as_json)
    except OSError:  # stderr is gone, too
        _discard_output()
    return shown.exit_code


def _discard_output() -> None:
    """Discard buffered output; Python would complain again when it flushes at exit."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
            os.dup2(nowhere, stream.fileno())


def run() -> NoReturn:
    """Run one command as a process and exit at once: unloading all modules would only take time."""
    _open_standard_streams()
    try:
        code = main()
    except SystemExit as end:  # from the parser, which has printed the reason
        code = end.code if isinstance(end.code, int) else EXIT_USAGE
    except KeyboardInterrupt:  # before the command has begun
        code = _end_early("")
    except OSError as error:  # its help cannot be written
        code = _end_unwritten(error, EXIT_FOUND)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            code = _end_unwritten(error, code)
    if threading.active_count() == 1:
        os._exit(code)
    sys.exit(code)


def _end_unwritten(error: OSError, code: int) -> int:
    """Say why output cannot be written, unless its reader is gone or a command has failed; return the exit code."""
    if code == EXIT_FOUND and not isinstance(error, BrokenPipeError):
        code = _end(error, "", as_json=False)
    _discard_output()
    return code


def _open_standard_streams() -> None:
    """Open stdin, stdout and stderr on /dev/null where they are closed: the next file would take their place."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                os.fstat(number)
                continue
            if os.open(os.devnull, os.O_RDWR) == number:
                setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - open until exit


def _report(error: CairnError, *, as_json: bool) -> None:
    note(f"error[{error.code}]: {error}")
    if error.hint:
        note(f"  try: {error.hint}")
    if as_json:
        sys.stdout.write(load("json:dumps")({"error": error.to_dict()}) + "\n")
