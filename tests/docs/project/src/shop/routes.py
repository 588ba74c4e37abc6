"""The routes of the HTTP API."""

from collections.abc import Callable

from shop.cart import Cart, total
from shop.payments import PaymentClient
from shop.sessions import SessionStore

Handler = Callable[..., dict[str, object]]
ROUTES: dict[tuple[str, str], Handler] = {}


def route(method: str, path: str) -> Callable[[Handler], Handler]:
    """Register a handler for a method and a path."""

    def register(handler: Handler) -> Handler:
        ROUTES[method, path] = handler
        return handler

    return register


@route("GET", "/cart")
def show_cart(sessions: SessionStore, cookie: str, carts: dict[str, Cart]) -> dict[str, object]:
    """Show the cart of the customer who is signed in."""
    customer = sessions.verify(cookie).customer
    return {"customer": customer, "cents": total(carts[customer])}


@route("POST", "/checkout")
def check_out(
    sessions: SessionStore, payments: PaymentClient, cookie: str, carts: dict[str, Cart]
) -> dict[str, object]:
    """Charge the customer for their cart, then empty it."""
    customer = sessions.verify(cookie).customer
    receipt = payments.charge(customer, total(carts[customer]))
    carts[customer] = Cart()
    return {"receipt": receipt}
