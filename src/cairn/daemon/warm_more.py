"""Imports what other answers need. Only imported after the second response, so as not to delay a first search."""

import cairn.facets.memory
import cairn.operations.context
import cairn.operations.graph
import cairn.operations.read  # noqa: F401 - importing them is the point
