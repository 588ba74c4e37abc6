#pragma once
class Purse {
 public:
  int pay(int n);
  int fee_of(int n);
};
int round_up(int n);
