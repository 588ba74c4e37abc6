"""A server for many repositories and people: workers publish indexed commits, and nodes answer from them.

PostgreSQL decides what is published and who may read it. An object store keeps immutable objects, named by their
hashes.
"""
