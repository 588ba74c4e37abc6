"""All SQL of the memory: its events, and the tables folded from them."""
