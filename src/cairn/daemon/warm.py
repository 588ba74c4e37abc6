"""Imports what a search needs; imported itself once the daemon has given its first answer, and not before."""

import cairn.index.plan
import cairn.operations
import cairn.search.answer  # noqa: F401 - all three are wanted for being imported
