struct list { int n; };
int list_push(struct list *l, int n);
