#include "purse.h"

class App : public Purse {
  Purse* purse_;
  void run() { purse_->pay(1); }
};

void use_all() {
  Purse p;
  p.pay(2);
  round_up(3);
}
