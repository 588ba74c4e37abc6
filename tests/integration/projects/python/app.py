import shop.money as m
from shop import Basket


def run(thing):
    basket = Basket(m.make())
    basket.save()
    m.make().pay(2)
    thing.get()


class Other:
    def get(self):
        pass
