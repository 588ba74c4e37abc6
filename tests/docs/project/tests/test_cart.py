"""Tests of carts."""

from shop.cart import Cart, Item, total


def test_a_discount_lowers_the_total() -> None:
    cart = Cart([Item("tea", 400, 2)])
    assert total(cart, discount=0.25) == 600
