#include "purse.h"

int Purse::pay(int n) { return fee_of(n); }
int Purse::fee_of(int n) { return round_up(n); }
int round_up(int n) { return n; }
