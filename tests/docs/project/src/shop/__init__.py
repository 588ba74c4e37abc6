"""A small shop: carts, sessions and payments behind an HTTP API."""
