"""The inner loops of ranking and indexing, compiled where they can be."""
