"""The schema of the history, and its SQL."""
