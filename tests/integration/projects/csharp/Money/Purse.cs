namespace Shop.Money;

public class Purse
{
    public int Pay(int n) => Fee(n);
    static int Fee(int n) => n;
}
