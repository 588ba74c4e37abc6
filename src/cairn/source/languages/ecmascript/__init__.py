"""Shared by JavaScript, TypeScript and TSX; not a language of its own."""
