"""Symbols and what connects them: references resolved to definitions, and what follows from that."""
