"""The `cairn` command, also as `python -m cairn`."""

import os
from typing import NoReturn


def run() -> NoReturn:
    """Run one command as a process. A failure to load it does not exit with 1, which means that nothing was found."""
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


if __name__ == "__main__":
    run()
