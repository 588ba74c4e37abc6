/* A ring buffer. */
#include "ring.h"
#include <stdlib.h>

#define RING_MIN 16
#define RING_NEXT(r, i) \
    (((i) + 1) % (r)->size)
#define RING_DEBUG
#undef RING_OLD

/* Why a call failed. */
enum ring_error { RING_OK, RING_FULL, RING_EMPTY = 10 };

struct forward;

typedef struct ring_slot {
    void *data;
    struct ring_slot *next;
    union { int number; char text[8]; } value;
} ring_slot_t, *ring_slot_p;

// Same name twice.
typedef struct ring_stats {
    long pushed;
    struct { long lost; } inner;
} ring_stats;

typedef struct {
    int low, high;
} ring_range;

typedef enum { RING_READ, RING_WRITE } ring_mode;
typedef union { int i; float f; } ring_number;
typedef unsigned long ring_size, ring_sizes[4];
typedef int (*ring_visit)(void *data, int index);
typedef void *ring_copy(const void *data);
typedef struct forward forward_t;

union ring_word { int whole; short halves[2]; };

static const char *names[] = {"ok", "full"}, *last;
const int ring_version = 3;
extern int ring_trace;
static struct ring_stats stats = {0}, *shared;
int (*ring_hook)(int) = NULL;
char table[4][8];
struct { int x, y; } origin;

int ring_push(struct ring *r, void *data);
static void *ring_pop(struct ring *, int), ring_clear(void);
const char **ring_names(void) __attribute__((pure));

#ifdef RING_THREADS
#  if RING_THREADS > 1
int ring_lock(struct ring *r);
#  else
static int locked;
#  endif
#elif defined(RING_SINGLE)
void ring_single(void);
#else
void ring_unlocked(void) {}
#endif

/**
 * Make a ring of at least `size` slots.
 */
struct ring *
ring_new(ring_size size)
{
    static int made;
    struct ring *r = malloc(sizeof *r);
    int check(int);
    made += 1;
    if (size < RING_MIN) { int small = 1; size += small; }
#ifdef RING_DEBUG
    int traced = 0;
#endif
    return r;
}

static inline __attribute__((always_inline)) int ring_count(const struct ring *r) { return r->count; }

int ring_old(r, n)
    struct ring *r;
    int n;
{
    return n;
}

void (*ring_handler(int signal, void (*handler)(int)))(int)
{
    return handler;
}

RING_API int (ring_exported)(struct ring *r) { return ring_count(r); }

TEST_IMPL(ring_wraps) {
    int seen = 0;
    return 0;
}

typedef int (ring_scanner)(struct ring *r);
