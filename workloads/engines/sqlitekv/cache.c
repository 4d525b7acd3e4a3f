/* The query cache: results of queries in memory slabs, each cut into slots of one size class: 32,
 * 64, 128 bytes and so on. An entry takes a free slot of the smallest class that it fits in, or
 * else of the next larger ones. Without any, it replaces its class's entries in turn, or takes a
 * slab from the others in turn.
 *
 * A hash table leads to (slab, offset): as one number, as slabs follow each other. The whole
 * key is compared.
 */
#include "kv.h"

#include <string.h>

enum { LEAST_SLOT = 32, CLASSES = 11 /* up to a slab */, NO_CLASS = -1 };

/* 0: none; else the place of a slot in units of LEAST_SLOT, plus 1. */
typedef uint32_t place;

struct slot {
	uint32_t hash;
	place next; /* in its chain, or among the free ones */
	uint32_t key_size, size;
	unsigned char used, query;
	unsigned char data[];
};

struct cache {
	unsigned char *memory;
	size_t slabs;
	signed char *class_of; /* of each slab */
	place *buckets;
	uint32_t mask;
	struct {
		place free;
		size_t hand; /* slot of the class that is replaced next, over all slabs */
	} classes[CLASSES];
	size_t slab_hand;
	struct cache_counts counts;
};

static size_t slot_size(int class)
{
	return (size_t)LEAST_SLOT << class;
}

static struct slot *slot_at(const struct cache *cache, place place)
{
	return (struct slot *)(cache->memory + (size_t)(place - 1) * LEAST_SLOT);
}

static place place_of(size_t offset)
{
	return (place)(offset / LEAST_SLOT + 1);
}

/* FNV-1a */
static uint32_t hash_of(enum cache_query query, struct slice key)
{
	uint32_t hash = 2166136261u ^ (uint32_t)query;

	for (size_t i = 0; i < key.size; i++)
		hash = (hash ^ key.data[i]) * 16777619u;
	return hash ^ hash >> 15;
}

struct cache *cache_create(size_t size)
{
	struct cache *cache = sqlite3_malloc64(sizeof(*cache));
	size_t slabs = size / CACHE_SLAB, buckets = 1;

	if (cache == NULL)
		return NULL;
	while (buckets * 2 * sizeof(place) <= size / 16)
		buckets *= 2;
	*cache = (struct cache){.memory = sqlite3_malloc64(slabs * CACHE_SLAB),
				.slabs = slabs,
				.class_of = sqlite3_malloc64(slabs),
				.buckets = sqlite3_malloc64(buckets * sizeof(place)),
				.mask = (uint32_t)(buckets - 1)};
	if (cache->memory == NULL || cache->class_of == NULL || cache->buckets == NULL) {
		cache_free(cache);
		return NULL;
	}
	cache_clear(cache);
	return cache;
}

void cache_clear(struct cache *cache)
{
	memset(cache->class_of, NO_CLASS, cache->slabs);
	memset(cache->buckets, 0, (cache->mask + (size_t)1) * sizeof(place));
	memset(cache->classes, 0, sizeof(cache->classes));
}

void cache_free(struct cache *cache)
{
	if (cache == NULL)
		return;
	sqlite3_free(cache->memory);
	sqlite3_free(cache->class_of);
	sqlite3_free(cache->buckets);
	sqlite3_free(cache);
}

/* Returns the link to the entry; to 0 if there is none. */
static place *find(const struct cache *cache, enum cache_query query, struct slice key)
{
	uint32_t hash = hash_of(query, key);
	place *link = &cache->buckets[hash & cache->mask];

	for (; *link != 0; link = &slot_at(cache, *link)->next) {
		const struct slot *slot = slot_at(cache, *link);

		if (slot->hash == hash && slot->query == query && slot->key_size == key.size &&
		    memcmp(slot->data, key.data, key.size) == 0)
			break;
	}
	return link;
}

bool cache_find(struct cache *cache, enum cache_query query, struct slice key, struct slice *result)
{
	place found = *find(cache, query, key);
	const struct slot *slot;

	if (found == 0) {
		cache->counts.misses++;
		return false;
	}
	slot = slot_at(cache, found);
	*result = (struct slice){slot->data + slot->key_size, slot->size};
	cache->counts.hits++;
	return true;
}

/* Takes an entry out of its chain; the slot is free, but not among the free ones. */
static void unlink_slot(struct cache *cache, place which)
{
	struct slot *slot = slot_at(cache, which);
	place *link = &cache->buckets[slot->hash & cache->mask];

	while (*link != which)
		link = &slot_at(cache, *link)->next;
	*link = slot->next;
	slot->used = 0;
}

static int class_at(const struct cache *cache, place which)
{
	return cache->class_of[(size_t)(which - 1) * LEAST_SLOT / CACHE_SLAB];
}

void cache_erase(struct cache *cache, enum cache_query query, struct slice key)
{
	place which = *find(cache, query, key);
	int class;

	if (which == 0)
		return;
	unlink_slot(cache, which);
	class = class_at(cache, which);
	slot_at(cache, which)->next = cache->classes[class].free;
	cache->classes[class].free = which;
}

/* Cuts a slab into free slots of a class. */
static void cut(struct cache *cache, size_t slab, int class)
{
	size_t size = slot_size(class), begin = slab * CACHE_SLAB;

	cache->class_of[slab] = (signed char)class;
	for (size_t offset = begin + CACHE_SLAB; offset > begin; offset -= size) {
		place which = place_of(offset - size);
		struct slot *slot = slot_at(cache, which);

		slot->used = 0;
		slot->next = cache->classes[class].free;
		cache->classes[class].free = which;
	}
}

/* Takes a slab from its class, with all entries. */
static void take_slab(struct cache *cache, size_t slab)
{
	int class = cache->class_of[slab];
	size_t begin = slab * CACHE_SLAB;
	place first = place_of(begin), end = place_of(begin + CACHE_SLAB);
	place *link = &cache->classes[class].free;

	while (*link != 0)
		if (*link >= first && *link < end)
			*link = slot_at(cache, *link)->next;
		else
			link = &slot_at(cache, *link)->next;
	for (size_t offset = begin; offset < begin + CACHE_SLAB; offset += slot_size(class)) {
		place which = place_of(offset);

		if (slot_at(cache, which)->used) {
			unlink_slot(cache, which);
			cache->counts.evicted++;
		}
	}
}

/* Replaces the next entry of the class. False: it has no slab. */
static bool replace(struct cache *cache, int class, place *which)
{
	size_t each = CACHE_SLAB / slot_size(class), all = cache->slabs * each;

	for (size_t i = 0; i < all; i++) {
		size_t slot = cache->classes[class].hand;
		size_t slab = slot / each;

		if (cache->class_of[slab] != class) {
			/* to the next slab */
			i += each - slot % each - 1;
			cache->classes[class].hand = (slab + 1) % cache->slabs * each;
			continue;
		}
		cache->classes[class].hand = (slot + 1) % all;
		*which = place_of(slab * CACHE_SLAB + slot % each * slot_size(class));
		if (!slot_at(cache, *which)->used)
			continue;
		unlink_slot(cache, *which);
		cache->counts.evicted++;
		return true;
	}
	return false;
}

static bool take_free(struct cache *cache, int class, place *which)
{
	*which = cache->classes[class].free;
	if (*which == 0)
		return false;
	cache->classes[class].free = slot_at(cache, *which)->next;
	return true;
}

static place allocate(struct cache *cache, int least)
{
	place which;

	if (take_free(cache, least, &which))
		return which;
	for (size_t slab = 0; slab < cache->slabs; slab++)
		if (cache->class_of[slab] == NO_CLASS) {
			cut(cache, slab, least);
			take_free(cache, least, &which);
			return which;
		}
	for (int class = least + 1; class < CLASSES; class ++)
		if (take_free(cache, class, &which))
			return which;
	if (replace(cache, least, &which))
		return which;
	take_slab(cache, cache->slab_hand);
	cut(cache, cache->slab_hand, least);
	cache->slab_hand = (cache->slab_hand + 1) % cache->slabs;
	take_free(cache, least, &which);
	return which;
}

void cache_add(struct cache *cache, enum cache_query query, struct slice key, struct slice result)
{
	size_t size = offsetof(struct slot, data) + key.size + result.size;
	uint32_t hash = hash_of(query, key);
	struct slot *slot;
	place which;
	int class = 0;

	if (size > CACHE_SLAB)
		return;
	cache_erase(cache, query, key);
	while (slot_size(class) < size)
		class ++;
	which = allocate(cache, class);
	slot = slot_at(cache, which);
	*slot = (struct slot){.hash = hash,
			      .next = cache->buckets[hash & cache->mask],
			      .key_size = (uint32_t)key.size,
			      .size = (uint32_t)result.size,
			      .used = 1,
			      .query = (unsigned char)query};
	memcpy(slot->data, key.data, key.size);
	if (result.size > 0)
		memcpy(slot->data + key.size, result.data, result.size);
	cache->buckets[hash & cache->mask] = which;
}

struct cache_counts cache_counts(const struct cache *cache)
{
	return cache->counts;
}
