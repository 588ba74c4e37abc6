"""What is on disk: SQLite connections, migrations and all SQL, and the container for derived arrays."""
