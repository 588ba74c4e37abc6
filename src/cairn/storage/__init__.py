"""State on disk: SQLite stores, each with its SQL in a folder of its own; atomic files; derived arrays."""
