// SPDX-License-Identifier: GPL-2.0-only
/* Flash dies: when each reads or programs a page; SLC first, folded when idle. With open_units the
 * device maps allocation units (units.c), else pages (map.c). */
#include "media.h"

void media_sense(struct flash_model *m, struct flash_chain *c, u64 page, enum flash_cause cause)
{
	u32 die = page % m->p.dies;

	chain_until(c, CAUSE_die, m->die_free[die]);
	chain_for(c, cause, m->p.read_ns);
	m->die_free[die] = c->at;
	/* no page of the device has the number of one of the map */
	m->die_page[die] = cause == CAUSE_read ? page + 1 : 0;
}

void media_read(struct flash_model *m, struct flash_chain *c, u64 page)
{
	if (m->die_page[page % m->p.dies] == page + 1)
		return;
	media_sense(m, c, page, CAUSE_read);
	m->stats.page_reads++;
}

/* A program as SLC while there is room, else as the cells are. */
static u64 program_as(struct flash_model *m, u64 bytes)
{
	u64 stored = padded_bytes(m, bytes);

	if (m->slc_bytes + stored > m->p.slc_mib << 20)
		return program_ns(m, bytes);
	m->slc_bytes += stored;
	m->stats.slc_bytes += stored;
	return m->p.slc_program_ns;
}

/* Idle dies fold SLC, a program unit each at a time; what a command interrupts is done again. */
void media_idle(struct flash_model *m, u64 now)
{
	u64 since = later(m->controller_free, m->folded_until), unit = m->p.program_bytes, units;
	u64 reads = (unit + m->p.read_bytes - 1) / m->p.read_bytes;
	u64 fold = reads * m->p.read_ns + program_ns(m, unit);
	u32 i;

	m->folded_until = later(m->folded_until, now);
	if (!m->slc_bytes || !fold)
		return;
	for (i = 0; i < m->p.dies; i++)
		since = later(since, m->die_free[i]);
	if (now <= since)
		return;
	units = (now - since) / fold * m->p.dies;
	units = units * unit < m->slc_bytes ? units * unit : m->slc_bytes;
	m->slc_bytes -= units;
	m->stats.fold_bytes += units;
}

void media_program(struct flash_model *m, struct flash_chain *c, const struct flash_extent *part,
		   u32 parts, u64 bytes)
{
	u64 merge = 0, gc = map_program(m, part, parts), program = program_as(m, bytes);
	u32 die = m->next_die, i;

	m->next_die = (die + 1) % m->p.dies;
	for (i = 0; i < parts; i++)
		map_cache_use(m, c, part[i].sector, part[i].sector + part[i].sectors);
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
