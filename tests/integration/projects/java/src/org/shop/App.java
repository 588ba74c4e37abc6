package org.shop;
import org.shop.money.Purse;
public class App extends Base implements Runnable {
  private final Purse purse = new Purse();
  public void run() { purse.pay(1); start(); Purse.open().pay(2); }
  void stop() { super.stop(); Purse other = Purse.open(); other.pay(3); }
}
