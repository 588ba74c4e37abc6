"""Asks the team servers to which the user is signed in; only loaded when a question needs it."""
