"""The project's commits as evidence: an index of their words and files, and answers from it."""
