export 'src/cart.dart';
