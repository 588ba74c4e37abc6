"""The errors of the shop."""


class ShopError(Exception):
    """The base of all errors of the shop."""


class SessionExpired(ShopError):
    """The session is too old; the customer has to sign in again."""


class PaymentError(ShopError):
    """The payment provider did not accept a charge."""


class OutOfStockError(ShopError):
    """More was ordered than is in stock."""
