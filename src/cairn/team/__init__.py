"""Many repositories, many people: workers publish indexed commits, nodes answer from them.

PostgreSQL decides what is published and who may read it; an object store keeps immutable objects, named by their hash.
"""
