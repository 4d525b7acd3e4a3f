// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dies, allocation units and garbage collection.
 *
 * A device with open_units > 0 maps whole allocation units, as SD cards and early eMMC do: a write
 * outside the open units closes the least recently used one, which costs a merge unless it was
 * filled from start to end. With open_units = 0 it maps pages, and collects garbage when free
 * blocks run low.
 */
#include "media.h"

void media_read(struct flash_model *m, struct flash_chain *c, u64 page)
{
	u32 die = page % m->p.dies;

	if (m->die_page[die] == page + 1)
		return;
	chain_until(c, CAUSE_die, m->die_free[die]);
	chain_for(c, CAUSE_read, m->p.read_ns);
	m->die_free[die] = c->at;
	m->die_page[die] = page + 1;
	m->stats.page_reads++;
}

static u64 close_ns(struct flash_model *m, const struct flash_unit *unit)
{
	u64 ns = m->p.merge_ns;

	if (unit->sequential && unit->next == m->p.unit_kib * 2) {
		m->stats.unit_switches++;
		m->stats.erases++;
		return m->p.erase_ns;
	}
	if (m->p.merge_spread_ns)
		ns += flash_random(&m->random) % (m->p.merge_spread_ns + 1);
	m->stats.merges++;
	return ns;
}

/* Record a write in an allocation unit; return the time to open it. */
static u64 touch_unit(struct flash_model *m, u64 sector, u64 sectors)
{
	u64 size = m->p.unit_kib * 2, number = sector / size, offset = sector % size, ns = 0;
	struct flash_unit *unit = &m->unit[0];
	u32 i;

	for (i = 0; i < m->open_units && m->unit[i].number != number; i++)
		if (m->unit[i].used < unit->used)
			unit = &m->unit[i];
	if (i < m->open_units) {
		unit = &m->unit[i];
	} else {
		if (m->open_units < m->p.open_units)
			unit = &m->unit[m->open_units++];
		else
			ns = close_ns(m, unit);
		*unit = (struct flash_unit){.number = number, .sequential = true};
		m->stats.unit_opens++;
	}
	unit->sequential &= offset == unit->next;
	unit->next = offset + sectors;
	unit->used = ++m->uses;
	return ns;
}

static u64 touch_units(struct flash_model *m, u64 sector, u64 end)
{
	u64 size = m->p.unit_kib * 2, ns = 0, stop;

	for (; sector < end; sector = stop) {
		stop = (sector / size + 1) * size;
		stop = stop < end ? stop : end;
		ns += touch_unit(m, sector, stop - sector);
	}
	return ns;
}

static u64 program_ns(const struct flash_model *m, u64 bytes)
{
	return m->p.program_ns + m->p.program_kib_ns * bytes / 1024;
}

/* Take `bytes` of free space; below the watermark, first reclaim blocks. */
static u64 take_space(struct flash_model *m, u64 bytes)
{
	u64 block = m->p.erase_kib * 1024, live_kib = m->live_bytes / 1024, ns = 0, valid;

	if (!m->p.gc_blocks)
		return 0;
	if (m->free_bytes < m->p.gc_blocks * block + bytes) {
		/* live data is assumed to be spread evenly over blocks */
		if (live_kib > m->sectors / 2)
			live_kib = m->sectors / 2;
		valid = block * live_kib / m->physical_kib;
		do {
			ns += valid / m->p.program_bytes *
			      (m->p.read_ns + program_ns(m, m->p.program_bytes));
			ns += m->p.erase_ns;
			m->free_bytes += block - valid;
			m->stats.erases++;
			m->stats.gc_bytes += valid;
		} while (m->free_bytes < bytes);
	}
	m->free_bytes -= bytes;
	return ns;
}

void media_program(struct flash_model *m, struct flash_chain *c, const struct flash_extent *part,
		   u32 parts, u64 bytes)
{
	u64 merge = 0, gc = take_space(m, bytes), program = program_ns(m, bytes);
	u32 die = m->next_die, i;

	m->next_die = (die + 1) % m->p.dies;
	for (i = 0; i < parts && m->p.open_units; i++)
		merge += touch_units(m, part[i].sector, part[i].sector + part[i].sectors);
	chain_until(c, CAUSE_die, m->die_free[die]);
	chain_for(c, CAUSE_gc, gc);
	chain_for(c, CAUSE_merge, merge);
	chain_for(c, CAUSE_program, program);
	m->die_free[die] = c->at;
	m->die_page[die] = 0;
	m->stats.programs++;
	m->stats.program_bytes += bytes;
	m->stats.program_busy_ns += program;
	m->stats.merge_busy_ns += merge;
	m->stats.gc_busy_ns += gc;
}
