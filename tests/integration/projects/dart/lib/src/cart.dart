import 'package:tool/log.dart' as tool;
import 'money.dart';

part 'cart_lines.dart';

abstract class Priced {
  double total();
}

mixin Counted {
  int count = 0;
  void countOne() {
    _changed();
  }

  void _changed() {}
}

class Base {
  Base([String? name]);
  void start() {}
}

class Cart extends Base with Counted implements Priced {
  final Purse purse = Purse.of('me');
  late List<Line> lines;

  Cart() : super('cart');

  // Without a type before its name.
  checkOut() {
    start();
    countOne();
    purse.pay(total());
    purse
      ..fill(1)
      ..pay(2);
    Purse('you').fill(3).pay(4);
    tool.log('paid');
    for (final line in lines) {
      line.price();
    }
    lines.forEach(show);
  }

  @override
  double total() {
    final sum = load<double>('all');
    return sum;
  }
}

T load<T>(String name) => throw name;

void show(Line line) {}

extension Short on String {
  String short() => substring(0, 3);
}
