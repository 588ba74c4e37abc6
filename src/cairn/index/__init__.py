"""Builds the index of a project and opens it for searching: manifest, postings, vectors, views."""
