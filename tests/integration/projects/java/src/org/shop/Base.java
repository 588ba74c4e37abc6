package org.shop;
public abstract class Base {
  void start() { stop(); }
  void stop() {}
}
