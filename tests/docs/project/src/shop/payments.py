"""Charges through the payment provider."""

import json
import time
import urllib.request
from urllib.error import HTTPError, URLError

from shop.errors import PaymentError


def backoff(attempt: int) -> float:
    """Return how many seconds to wait before the next attempt: 0.5, 1, 2, 4 and so on, at most 30."""
    return min(0.5 * 2**attempt, 30.0)


class PaymentClient:
    """Talks to the payment provider over HTTP."""

    def __init__(self, url: str, attempts: int) -> None:
        self._url = url
        self._attempts = attempts

    def charge(self, customer: str, cents: int) -> str:
        """Charge a customer and return the receipt, retrying while the connection fails.

        Raises:
            PaymentError: if the provider declines, or all attempts fail.
        """
        body = json.dumps({"customer": customer, "cents": cents}).encode()
        for attempt in range(self._attempts):
            try:
                return self._post("/charges", body)
            except HTTPError as error:
                raise PaymentError(f"charge declined: {error.code}") from error
            except URLError:
                time.sleep(backoff(attempt))
        raise PaymentError("connection reset")

    def _post(self, path: str, body: bytes) -> str:
        with urllib.request.urlopen(self._url + path, data=body, timeout=10) as answer:
            return str(json.load(answer)["receipt"])
