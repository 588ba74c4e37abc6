"""Imports what all pages need; imported itself only after the first page, to leave that one alone."""

import cairn.daemon.warm
import cairn.daemon.warm_more
import cairn.facets.analyses
import cairn.facets.flows
import cairn.facets.graph
import cairn.operations.flow  # noqa: F401 - importing them is the point
