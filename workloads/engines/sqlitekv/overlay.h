/* Keeps the writes of an open transaction in a skip list by key, with each key's versions, so that
 * scans see them and a savepoint can undo them. */
#pragma once

#include "bytes.h"

struct overlay_version {
	struct overlay_version *older;
	bool deleted;
	struct slice value;
};

/* Stays where it is until the overlay is cleared; after a rollback to a savepoint it may have no
 * version, as if it were not there. */
struct overlay_node {
	struct overlay_version *newest; /* NULL: none */
	struct slice key;
	struct overlay_node *next[];
};

enum { OVERLAY_HEIGHT = 16 };

struct overlay {
	struct overlay_node *head[OVERLAY_HEIGHT];
	int height;
	uint32_t random;
	unsigned generation;	     /* how often it was cleared */
	struct overlay_node **log;   /* the node of each change */
	size_t changes, capacity;    /* of the log */
	struct overlay_chunk *chunk; /* memory of nodes and versions */
};

/* Adds a change. False: no memory, and nothing is changed. */
bool overlay_add(struct overlay *overlay, struct slice key, struct slice value, bool deleted);
void overlay_undo(struct overlay *overlay, size_t changes);
void overlay_clear(struct overlay *overlay);
void overlay_free(struct overlay *overlay);

/* The first node that is not before the key, or the last one before it. NULL: none. */
struct overlay_node *overlay_from(const struct overlay *overlay, struct slice key);
struct overlay_node *overlay_before(const struct overlay *overlay, struct slice key);
