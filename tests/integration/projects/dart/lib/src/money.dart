double fee(double sum) => sum * 0.1;

class Purse {
  final String owner;
  double held = 0;

  Purse(this.owner);
  Purse.empty() : this('nobody');

  factory Purse.of(String owner) => Purse(owner);

  void pay(double sum) {
    held -= sum + fee(sum);
  }

  Purse fill(double sum) {
    held += sum;
    return this;
  }
}
