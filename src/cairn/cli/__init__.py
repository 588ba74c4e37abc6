"""The `cairn` command: arguments in, a call to the workspace, text or JSON out."""
