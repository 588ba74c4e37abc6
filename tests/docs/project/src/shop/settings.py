"""Settings from the file and the environment."""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """What can be set, with its default."""

    session_minutes: int = 30
    payment_url: str = "https://payments.example"
    payment_attempts: int = 4


def load_settings(folder: Path) -> Settings:
    """Read `shop.toml` in a folder, then the environment, which wins."""
    file = folder / "shop.toml"
    table = tomllib.loads(file.read_text()) if file.exists() else {}
    session, payments = table.get("session", {}), table.get("payments", {})
    return Settings(
        session_minutes=int(os.environ.get("SHOP_SESSION_MINUTES", session.get("minutes", 30))),
        payment_url=os.environ.get("SHOP_PAYMENT_URL", payments.get("url", "https://payments.example")),
        payment_attempts=int(os.environ.get("SHOP_PAYMENT_ATTEMPTS", payments.get("attempts", 4))),
    )
