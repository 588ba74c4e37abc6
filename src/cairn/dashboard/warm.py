"""Imports what all pages need. Only imported after the first page, so as not to delay it."""

import cairn.daemon.warm
import cairn.daemon.warm_more
import cairn.facets.analyses
import cairn.facets.flows
import cairn.facets.graph
import cairn.operations.flow  # noqa: F401 - importing them is the point
