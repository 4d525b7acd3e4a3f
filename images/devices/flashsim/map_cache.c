// SPDX-License-Identifier: GPL-2.0-only
/*
 * The controller's cache of the page map (map_kib): a miss first reads the map from flash.
 *
 * The map has 4 bytes for each 4 KiB and is read by pages of read_bytes. What is not held is read
 * before a command's data, in place of the page used longest ago. Writing the map is not modelled.
 */
#include "media.h"

#define ENTRY_BYTES 4

/* Sectors that one page of the map describes. */
static u64 reach(const struct flash_parameters *p)
{
	return p->read_bytes / ENTRY_BYTES * FLASH_PAGE / 512;
}

u64 map_cache_numbers(const struct flash_parameters *p, u64 sectors)
{
	return p->map_kib ? sectors / reach(p) + 1 : 0;
}

void map_cache_clear(struct flash_model *m)
{
	u64 n = map_cache_numbers(&m->p, m->sectors), i;

	m->map_cache.held = m->map_cache.uses = 0;
	for (i = 0; i < n; i++)
		m->map_cache.used[i] = 0;
}

static void drop_oldest(struct flash_model *m)
{
	struct flash_map_cache *cache = &m->map_cache;
	u64 n = map_cache_numbers(&m->p, m->sectors), oldest = n, i;

	for (i = 0; i < n; i++)
		if (cache->used[i] && (oldest == n || cache->used[i] < cache->used[oldest]))
			oldest = i;
	cache->used[oldest] = 0;
	cache->held--;
}

void map_cache_use(struct flash_model *m, struct flash_chain *c, u64 sector, u64 end)
{
	struct flash_map_cache *cache = &m->map_cache;
	u64 page;

	if (!m->p.map_kib)
		return;
	for (page = sector / reach(&m->p); page * reach(&m->p) < end; page++) {
		if (!cache->used[page]) {
			if (cache->held == m->p.map_kib * 1024 / m->p.read_bytes)
				drop_oldest(m);
			cache->held++;
			media_sense(m, c, page, CAUSE_map);
			m->stats.map_reads++;
		}
		cache->used[page] = ++cache->uses;
	}
}
