"""Imports what a search needs. Only imported after the daemon's first response."""

import cairn.facets.code
import cairn.facets.searcher
import cairn.index.run
import cairn.operations.search  # noqa: F401 - importing them is the point
