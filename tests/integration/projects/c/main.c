#include "list.h"

static void on_done(int n) {}
int main(void) { struct list l; list_push(&l, 1); each(&l, on_done); return 0; }
