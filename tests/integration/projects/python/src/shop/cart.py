from shop.base import Base
from . import money


class Cart(Base):
    def __init__(self, purse: money.Purse):
        self.purse = purse

    def check(self):
        super().check()
        self.purse.pay(1)
        money.fee()
