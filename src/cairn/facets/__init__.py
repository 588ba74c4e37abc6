"""What an opened project offers, by kind: its code, its symbol graph, its upkeep."""
