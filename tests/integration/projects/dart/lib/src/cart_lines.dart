part of 'cart.dart';

class Line {
  double price() => fee(1);
}

void addAll(Cart cart) {
  show(const Line());
  cart.checkOut();
}
