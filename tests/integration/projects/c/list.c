#include "list.h"

static int grow(struct list *l) { return l->n; }
int list_push(struct list *l, int n) { return grow(l); }
