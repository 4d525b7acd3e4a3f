/* Keeps the writes of an open transaction in a skip list by key, with each key's versions, so that
 * scans see them and a savepoint can undo them. Nothing is removed before it is cleared, so that a
 * cursor can keep its place. */
#include "kv.h"

#include <string.h>

enum { CHUNK_SIZE = 1 << 16 };

struct overlay_chunk {
	struct overlay_chunk *next;
	size_t used, size;
	uint64_t data[]; /* sqlite3_malloc aligns for eight bytes */
};

static void *allocate(struct overlay *overlay, size_t size)
{
	struct overlay_chunk *chunk = overlay->chunk;

	size = (size + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
	if (chunk == NULL || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		chunk = sqlite3_malloc64(sizeof(*chunk) + room);
		if (chunk == NULL)
			return NULL;
		*chunk = (struct overlay_chunk){.next = overlay->chunk, .size = room};
		overlay->chunk = chunk;
	}
	chunk->used += size;
	return (unsigned char *)chunk->data + chunk->used - size;
}

static struct overlay_node *after(const struct overlay *overlay, struct overlay_node *node,
				  int level)
{
	return node != NULL ? node->next[level] : overlay->head[level];
}

/* Finds the last node before the key in each level; NULL: the list's head. */
static void find(const struct overlay *overlay, struct slice key,
		 struct overlay_node *before[OVERLAY_HEIGHT])
{
	struct overlay_node *node = NULL, *next;

	for (int level = overlay->height - 1; level >= 0; level--) {
		while ((next = after(overlay, node, level)) != NULL &&
		       slice_compare(next->key, key) < 0)
			node = next;
		before[level] = node;
	}
}

struct overlay_node *overlay_from(const struct overlay *overlay, struct slice key)
{
	struct overlay_node *before[OVERLAY_HEIGHT] = {NULL};

	find(overlay, key, before);
	return after(overlay, before[0], 0);
}

struct overlay_node *overlay_before(const struct overlay *overlay, struct slice key)
{
	struct overlay_node *before[OVERLAY_HEIGHT] = {NULL};

	find(overlay, key, before);
	return before[0];
}

/* One in four nodes of a level is also in the next. Any sequence does; this one repeats. */
static int draw_height(struct overlay *overlay)
{
	int height = 1;

	overlay->random = overlay->random * 1664525 + 1013904223;
	for (uint32_t bits = overlay->random; height < OVERLAY_HEIGHT && bits >> 30 == 0;
	     bits <<= 2)
		height++;
	return height;
}

static struct overlay_node *insert(struct overlay *overlay, struct slice key,
				   struct overlay_node *before[OVERLAY_HEIGHT])
{
	int height = draw_height(overlay);
	struct overlay_node *node = allocate(
		overlay, sizeof(*node) + (size_t)height * sizeof(node->next[0]) + key.size);
	unsigned char *copy;

	if (node == NULL)
		return NULL;
	copy = (unsigned char *)&node->next[height];
	memcpy(copy, key.data, key.size);
	node->newest = NULL;
	node->key = (struct slice){copy, key.size};
	for (int level = 0; level < height; level++) {
		struct overlay_node **link =
			before[level] != NULL ? &before[level]->next[level] : &overlay->head[level];

		node->next[level] = *link;
		*link = node;
	}
	if (height > overlay->height)
		overlay->height = height;
	return node;
}

static bool grow_log(struct overlay *overlay)
{
	size_t capacity = 2 * overlay->capacity + 16;
	struct overlay_node **log;

	if (overlay->changes < overlay->capacity)
		return true;
	log = sqlite3_realloc64(overlay->log, capacity * sizeof(*log));
	if (log == NULL)
		return false;
	overlay->log = log;
	overlay->capacity = capacity;
	return true;
}

bool overlay_add(struct overlay *overlay, struct slice key, struct slice value, bool deleted)
{
	struct overlay_node *before[OVERLAY_HEIGHT] = {NULL}, *node;
	struct overlay_version *version;

	if (!grow_log(overlay))
		return false;
	version = allocate(overlay, sizeof(*version) + value.size);
	if (version == NULL)
		return false;
	find(overlay, key, before);
	node = after(overlay, before[0], 0);
	if (node == NULL || slice_compare(node->key, key) != 0)
		node = insert(overlay, key, before);
	if (node == NULL)
		return false;
	if (value.size > 0)
		memcpy(version + 1, value.data, value.size);
	*version = (struct overlay_version){
		node->newest, deleted, {(unsigned char *)(version + 1), value.size}};
	node->newest = version;
	overlay->log[overlay->changes++] = node;
	return true;
}

void overlay_undo(struct overlay *overlay, size_t changes)
{
	while (overlay->changes > changes) {
		struct overlay_node *node = overlay->log[--overlay->changes];

		node->newest = node->newest->older;
	}
}

void overlay_clear(struct overlay *overlay)
{
	struct overlay_chunk *chunk = overlay->chunk;

	if (chunk == NULL)
		return;
	/* One chunk is kept for the next transaction. */
	while (chunk->next != NULL) {
		struct overlay_chunk *next = chunk->next;

		sqlite3_free(chunk);
		chunk = next;
	}
	chunk->used = 0;
	overlay->chunk = chunk;
	memset(overlay->head, 0, sizeof(overlay->head));
	overlay->height = 0;
	overlay->changes = 0;
	overlay->generation++;
}

void overlay_free(struct overlay *overlay)
{
	overlay_clear(overlay);
	sqlite3_free(overlay->chunk);
	sqlite3_free(overlay->log);
	*overlay = (struct overlay){0};
}
