using Shop.Money;

namespace Shop
{
    public class Base { protected void Begin() {} }

    public class App : Base
    {
        private readonly Purse _purse = new Purse();
        public void Go(Purse other) { _purse.Pay(1); other.Pay(2); Begin(); base.Begin(); }
    }
}
