"""The daemon: one process per user that serves all their projects over HTTP."""
