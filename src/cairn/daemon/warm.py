"""Imports what a search needs; imported itself once the daemon has given its first answer, and not before."""

import cairn.facets.code
import cairn.facets.searcher
import cairn.index.run
import cairn.operations.context
import cairn.operations.graph
import cairn.operations.read
import cairn.operations.search  # noqa: F401 - all are wanted for being imported
