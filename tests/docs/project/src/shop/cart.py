"""Carts and what they cost."""

from dataclasses import dataclass, field

from shop.errors import OutOfStockError


@dataclass(frozen=True)
class Item:
    """One kind of thing in a cart."""

    name: str
    cents: int
    quantity: int


@dataclass
class Cart:
    """What a customer is about to buy."""

    items: list[Item] = field(default_factory=list)

    def add(self, item: Item, stock: int) -> None:
        """Put an item into the cart.

        Raises:
            OutOfStockError: if more is wanted than is in stock.
        """
        if item.quantity > stock:
            raise OutOfStockError(item.name)
        self.items.append(item)


def total(cart: Cart, discount: float = 0.0) -> int:
    """Return the price of a cart in cents, after a discount between 0 and 1."""
    cents = 0
    for item in cart.items:
        cents += item.cents * item.quantity
    reduced = cents * (1 - discount)
    return round(reduced)
