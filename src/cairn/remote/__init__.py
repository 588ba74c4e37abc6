"""Asks the servers of a team for whoever is signed in to them; nothing here is loaded before a question needs it."""
