"""The installed command, and the module that tests of several processes ask about."""

from __future__ import annotations

import sys
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "cairn")
CODE = '''def total(prices):
    """Add up the prices of a cart."""
    return sum(tax(price) for price in prices)


def tax(price):
    """Add the tax to a price."""
    return price * 1.2
'''
