import 'package:shop/shop.dart';

void main() {
  final cart = Cart();
  cart.checkOut();
}
