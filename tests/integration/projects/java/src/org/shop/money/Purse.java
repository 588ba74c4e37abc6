package org.shop.money;
public class Purse {
  public static Purse open() { return new Purse(); }
  public int pay(int n) { return n; }
}
