"""Keeps pytest out of the project that the examples of the documentation run on."""

collect_ignore = ["project"]
