"""The `cairn` command, also as `python -m cairn`."""

import os
from typing import NoReturn


def run() -> NoReturn:
    """Run one command as a process; whatever keeps it from being loaded does not end with 1, for nothing found."""
    try:
        from cairn.cli.main import run as run_command  # noqa: PLC0415 - to tell why it cannot be
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException as error:  # noqa: BLE001 - the edge of the process
        reason = str(error) or "there is not enough memory"
        text = f"error[internal]: Cairn cannot be loaded: {reason}\n  try: uv tool install --reinstall codecairn\n"
        os.write(2, text.encode("utf-8", "replace"))
        os._exit(3)
    run_command()


if __name__ == "__main__":
    run()
