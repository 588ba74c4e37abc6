"""`python -m cairn` is the `cairn` command."""

from cairn.cli.main import run

if __name__ == "__main__":
    run()
