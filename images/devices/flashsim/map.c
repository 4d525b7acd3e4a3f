// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps 4 KiB pages to flash blocks, collects garbage, and fills a used device; only with gc_blocks.
 *
 * A program appends its pages to the open block and ends their old copies. While no more than
 * gc_blocks are free besides one for the copies, the closed block with the fewest live pages is
 * reclaimed: those are appended too, and it is erased.
 */
#include "media.h"

/* in `page`: padding; in `live`: the block is free */
#define NONE (~0U)
/* in `slot`: other data, which the host did not write and no discard frees */
#define OTHER (1U << 31)

static u64 pages_of(u64 sectors)
{
	return (sectors * 512 + FLASH_PAGE - 1) / FLASH_PAGE;
}

u64 flash_blocks(const struct flash_parameters *p, u64 sectors)
{
	return (sectors / 2 + sectors / 2 * p->spare_permille / 1000) / p->erase_kib;
}

static u64 slots_of(const struct flash_parameters *p, u64 sectors)
{
	return flash_blocks(p, sectors) * (p->erase_kib * 1024 / FLASH_PAGE);
}

u64 map_numbers(const struct flash_parameters *p, u64 sectors)
{
	if (!p->gc_blocks)
		return 0;
	return pages_of(sectors) + slots_of(p, sectors) + 2 * flash_blocks(p, sectors);
}

void map_init(struct flash_model *m)
{
	struct flash_map *map = &m->map;

	if (!m->p.gc_blocks)
		return;
	map->blocks = flash_blocks(&m->p, m->sectors);
	map->block_pages = m->p.erase_kib * 1024 / FLASH_PAGE;
	map->slot = m->numbers;
	map->page = map->slot + pages_of(m->sectors);
	map->live = map->page + slots_of(&m->p, m->sectors);
	map->free = map->live + map->blocks;
}

static void open_block(struct flash_map *map)
{
	map->open = map->free[map->first_free];
	map->first_free = (map->first_free + 1) % map->blocks;
	map->nr_free--;
	map->live[map->open] = 0;
	map->filled = 0;
}

static void free_block(struct flash_map *map, u32 block)
{
	map->free[(map->first_free + map->nr_free++) % map->blocks] = block;
	map->live[block] = NONE;
}

static void unmap(struct flash_map *map, u64 page)
{
	if (map->slot[page])
		map->live[((map->slot[page] & ~OTHER) - 1) / map->block_pages]--;
	map->slot[page] = 0;
}

/* Append a page, or padding, to the open block. other: 0 or OTHER. */
static void append(struct flash_map *map, u32 page, u32 other)
{
	u32 slot;

	if (map->filled == map->block_pages)
		open_block(map);
	slot = map->open * map->block_pages + map->filled++;
	map->page[slot] = page;
	if (page == NONE)
		return;
	unmap(map, page);
	map->slot[page] = (slot + 1) | other;
	map->live[map->open]++;
}

/* Return the closed block with the fewest live pages, the first of several. */
static u32 victim(const struct flash_map *map)
{
	u32 best = map->open == 0, i;

	for (i = best + 1; i < map->blocks; i++)
		if (map->live[i] < map->live[best] && i != map->open)
			best = i;
	return best;
}

/* Reclaim a block; return the time. */
static u64 reclaim(struct flash_model *m)
{
	struct flash_map *map = &m->map;
	u32 block = victim(map), first = block * map->block_pages, i;
	u64 bytes = 0, units;

	for (i = first; i < first + map->block_pages; i++) {
		u32 page = map->page[i];

		if (page == NONE || (map->slot[page] & ~OTHER) != i + 1)
			continue;
		append(map, page, map->slot[page] & OTHER);
		bytes += FLASH_PAGE;
	}
	free_block(map, block);
	m->stats.erases++;
	m->stats.gc_bytes += bytes;
	units = (bytes + m->p.program_bytes - 1) / m->p.program_bytes;
	return units * (m->p.read_ns + program_ns(m, m->p.program_bytes)) + m->p.erase_ns;
}

/* Append a page or padding of a command; return the time of the garbage collection before it. */
static u64 take(struct flash_model *m, u32 page, u32 other)
{
	u64 ns = 0;

	while (m->map.nr_free <= m->p.gc_blocks)
		ns += reclaim(m);
	append(&m->map, page, other);
	return ns;
}

u64 map_program(struct flash_model *m, const struct flash_extent *part, u32 parts)
{
	u64 ns = 0, pages = 0, page, padded;
	u32 i;

	if (!m->map.slot)
		return 0;
	for (i = 0; i < parts; i++) {
		page = part[i].sector * 512 / FLASH_PAGE;
		for (; page < pages_of(part[i].sector + part[i].sectors); page++, pages++)
			ns += take(m, page, 0);
	}
	padded = padded_bytes(m, pages * FLASH_PAGE) / FLASH_PAGE;
	for (; pages < padded; pages++)
		ns += take(m, NONE, 0);
	return ns;
}

void map_discard(struct flash_model *m, u64 sector, u64 sectors)
{
	u64 page = pages_of(sector), end = (sector + sectors) * 512 / FLASH_PAGE;

	for (; m->map.slot && page < end; page++)
		if (!(m->map.slot[page] & OTHER))
			unmap(&m->map, page);
}

void map_reset(struct flash_model *m)
{
	struct flash_map *map = &m->map;
	u32 i;

	if (!map->slot)
		return;
	map->first_free = map->nr_free = 0;
	for (i = 0; i < map->blocks; i++)
		free_block(map, i);
	open_block(map);
	for (i = 0; i < pages_of(m->sectors); i++) {
		if (!map->slot[i])
			continue;
		map->slot[i] = 0;
		append(map, i, 0);
	}
}

void map_age(struct flash_model *m)
{
	u64 pages = pages_of(m->sectors), left = pages * m->p.overwrite_permille / 1000, page;
	u64 random = m->p.seed, filled = 0;

	if (!m->map.slot)
		return;
	for (page = 0; page < pages; page++) {
		if (flash_random(&random) % 1000 >= m->p.fill_permille)
			continue;
		take(m, page, OTHER);
		filled++;
	}
	while (filled && left) {
		page = flash_random(&random) % pages;
		if (!m->map.slot[page])
			continue;
		take(m, page, OTHER);
		left--;
	}
}
