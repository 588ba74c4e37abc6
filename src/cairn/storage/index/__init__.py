"""All SQL of the index, and its schema."""
