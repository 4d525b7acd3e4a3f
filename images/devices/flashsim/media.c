// SPDX-License-Identifier: GPL-2.0-only
/* Dies. With open_units the device maps allocation units (units.c), else pages (map.c). */
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

void media_program(struct flash_model *m, struct flash_chain *c, const struct flash_extent *part,
		   u32 parts, u64 bytes)
{
	u64 merge = 0, gc = map_program(m, part, parts), program = program_ns(m, bytes);
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
