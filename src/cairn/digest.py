"""BLAKE2 without OpenSSL, which `hashlib` loads when it is imported: 3 ms at the start of each command."""

from __future__ import annotations

try:
    from _blake2 import blake2b as blake2b
except ImportError:  # another implementation of Python
    from hashlib import blake2b as blake2b
