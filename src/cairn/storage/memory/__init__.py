"""All SQL of the memory: its events, and the tables that are folded from them."""
