// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dies and garbage collection.
 *
 * A device with open_units > 0 maps whole allocation units (units.c). With open_units = 0 it maps
 * pages, and collects garbage when free blocks run low.
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
		merge += units_touch(m, part[i].sector, part[i].sector + part[i].sectors);
	chain_until(c, CAUSE_die, m->die_free[die]);
	chain_for(c, CAUSE_gc, gc);
	chain_for(c, CAUSE_merge, merge);
	chain_for(c, CAUSE_program, program);
	m->die_free[die] = c->at;
	m->die_page[die] = 0;
	m->stats.programs++;
	m->stats.program_bytes += bytes;
	m->stats.padding_bytes += padded_bytes(m, bytes) - bytes;
	m->stats.program_busy_ns += program;
	m->stats.merge_busy_ns += merge;
	m->stats.gc_busy_ns += gc;
}
