"""Imports what other answers need; imported itself only after the second response, to leave a first search alone."""

import cairn.facets.memory
import cairn.operations.context
import cairn.operations.graph
import cairn.operations.read  # noqa: F401 - importing them is the point
