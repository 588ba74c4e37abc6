#ifndef RING_H
#define RING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Most slots a ring can have. */
#define RING_MAX ((size_t)1 << 20)

typedef struct ring ring_t;

/* One ring. */
struct ring {
    size_t size;
    int (*compare)(const void *, const void *);
};

/**
 * Put one value in.
 *
 * Returns 0, or -1 where the ring is full.
 */
RING_API int ring_push(ring_t *ring, void *data);

void *ring_pop(ring_t *ring);
size_t ring_len(const ring_t *ring),
       ring_room(const ring_t *ring);

static inline int ring_empty(const ring_t *ring) {
    return ring_len(ring) == 0;
}

extern const char *ring_version_text;

RING_BEGIN_DECLS

int ring_walk(ring_t *ring,
              int (*visit)(void *data),
              int flags);

RING_END_DECLS

#ifdef __cplusplus
}
#endif

#endif /* RING_H */
