"""The exit codes of commands: a contract, see docs/cli.md."""

EXIT_FOUND, EXIT_NONE, EXIT_USAGE, EXIT_STORE = 0, 1, 2, 3
EXIT_INTERRUPTED = 130
