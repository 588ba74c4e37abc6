"""From a query to ranked hits: classify, retrieve, rank, and exact search; pure functions over an opened index."""
