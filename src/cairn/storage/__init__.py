"""What is on disk: SQLite stores, each with its SQL in a folder of its own, files written whole, derived arrays."""
