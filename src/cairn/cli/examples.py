"""The examples in the help of each command. A test runs them on a small project."""

from __future__ import annotations

from collections.abc import Mapping

# By command; a command with actions has those of its actions, too.
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "cairn": (
        "cairn init",
        "cairn search how are routes registered",
        "cairn -C ../shop callers SessionStore.verify",
        "cairn help search",
    ),
    "cairn search": (
        "cairn search how are routes registered",
        "cairn search SessionStore --kind class -n 3",
        "cairn search '\"the card was refused\"' --in src",
        "cairn search 'callers of total' --json",
        "cairn search cents -l --in .",
    ),
    "cairn similar": ("cairn similar src/shop/cart.py:36", "cairn similar - --lang python < snippet.py"),
    "cairn fetch": ("cairn fetch 'src/shop/cart.py#total'", "cairn fetch - < ids.txt"),
    "cairn context": (
        "cairn context retry the payment when the bank is busy",
        "cairn context 'check out a cart' --file src/shop/routes.py --max-tokens 2000",
    ),
    "cairn outline": (
        "cairn outline src/shop/cart.py",
        "cairn outline src/shop/cart.py --mode context --symbol Cart.add",
    ),
    "cairn flow": ("cairn flow src/shop/cart.py:total", "cairn flow src/shop/cart.py:total --dfg --mermaid"),
    "cairn slice": ("cairn slice src/shop/cart.py:40:reduced", "cairn slice src/shop/cart.py:36 --forward"),
    "cairn callers": ("cairn callers SessionStore.verify", "cairn callers src/shop/cart.py:total -n 5"),
    "cairn callees": ("cairn callees check_out",),
    "cairn references": ("cairn references OutOfStockError", "cairn references Cart.items --kind read"),
    "cairn subclasses": ("cairn subclasses ShopError",),
    "cairn path": ("cairn path check_out SessionStore.verify",),
    "cairn importers": ("cairn importers src/shop/errors.py",),
    "cairn impact": ("cairn impact SessionStore.verify", "cairn impact --diff HEAD"),
    "cairn tests": ("cairn tests total", "cairn tests --diff"),
    "cairn dead": ("cairn dead",),
    "cairn cycles": ("cairn cycles",),
    "cairn map": ("cairn map --max-tokens 2000", "cairn map --focus src/shop/cart.py"),
    "cairn history": ("cairn history bank is busy", "cairn history src/shop/payments.py -n 3"),
    "cairn related": ("cairn related src/shop/cart.py",),
    "cairn why": ("cairn why src/shop/cart.py:36", "cairn why src/shop/cart.py:30-40"),
    "cairn index": ("cairn index", "cairn index --dry-run", "cairn index --branch v2.1", "cairn index --watch"),
    "cairn status": ("cairn status", "cairn status --json"),
    "cairn gc": ("cairn gc --dry-run",),
    "cairn doctor": ("cairn doctor", "cairn doctor --fix"),
    "cairn config": ("cairn config show", "cairn config set garbage_days 30"),
    "cairn config get": ("cairn config get memory.capture",),
    "cairn config set": ("cairn config set garbage_days 30", "cairn config set --shared memory.capture false"),
    "cairn config unset": ("cairn config unset memory.capture",),
    "cairn config show": ("cairn config show", "cairn config show --json"),
    "cairn init": ("cairn init", "cairn init --agent claude-code --dry-run"),
    "cairn install": ("cairn install --agent cursor --yes",),
    "cairn uninstall": ("cairn uninstall --dry-run",),
    "cairn core": ("cairn core suggest", "cairn core add src/shop/cart.py --summary 'what a customer buys'"),
    "cairn core add": ("cairn core add src/shop/cart.py --summary 'what a customer buys'",),
    "cairn core remove": ("cairn core remove src/shop/cart.py",),
    "cairn core list": ("cairn core list",),
    "cairn core suggest": ("cairn core suggest -n 3",),
    "cairn remember": (
        "cairn remember totals round half to even --type decision --file src/shop/cart.py::total",
        "cairn remember @notes.md --tag money",
    ),
    "cairn recall": ("cairn recall how are prices rounded", "cairn recall rounding --type decision --all-branches"),
    "cairn memories": ("cairn memories --type gotcha --since 4w", "cairn memories show m_0123456789"),
    "cairn memories show": ("cairn memories show m_0123456789",),
    "cairn memories edit": ("cairn memories edit m_0123456789 --importance 8 --tag money",),
    "cairn memories archive": ("cairn memories archive m_0123456789 --reason 'of the old shop'",),
    "cairn memories reopen": ("cairn memories reopen m_0123456789",),
    "cairn memories undo": ("cairn memories undo m_0123456789",),
    "cairn memories supersede": ("cairn memories supersede m_0123456789 m_9876543210",),
    "cairn memories prune": ("cairn memories prune --dry-run",),
    "cairn resolve": ("cairn resolve m_0123456789 --reason 'fixed in v2.1'",),
    "cairn forget": ("cairn forget m_0123456789 --yes",),
    "cairn fresh": ("cairn fresh", "cairn fresh --undo"),
    "cairn savings": ("cairn savings --days 7",),
    "cairn sessions": ("cairn sessions --since 7d", "cairn sessions show 0b71cd1e"),
    "cairn sessions show": ("cairn sessions show 0b71cd1e",),
    "cairn sessions mute": ("cairn sessions mute 0b71cd1e --yes", "cairn sessions mute 0b71cd1e --undo"),
    "cairn sessions forget": ("cairn sessions forget 0b71cd1e --yes",),
    "cairn export": ("cairn export memories.jsonl", "cairn export --shared"),
    "cairn import": ("cairn import memories.jsonl --dry-run",),
    "cairn mcp": ("cairn mcp -C ../shop",),
    "cairn hook": ("cairn hook after-tool --agent claude-code",),
    "cairn daemon": ("cairn daemon start", "cairn daemon status", "cairn daemon logs -n 20"),
    "cairn daemon start": ("cairn daemon start",),
    "cairn daemon stop": ("cairn daemon stop",),
    "cairn daemon status": ("cairn daemon status --json",),
    "cairn daemon ensure": ("cairn daemon ensure",),
    "cairn daemon logs": ("cairn daemon logs -n 20",),
    "cairn completions": ("cairn completions fish", "cairn completions man"),
    "cairn help": ("cairn help search", "cairn help daemon logs"),
}


def format_examples(command: str) -> str:
    """Return the end of a command's help."""
    shown = EXAMPLES.get(command, ())
    return "\nexamples:\n" + "".join(f"  {example}\n" for example in shown) if shown else ""
