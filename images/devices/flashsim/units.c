// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time of a write on a device that maps whole allocation units (SD cards, early eMMC): opens units
 * for writes and merges those that are closed.
 *
 * A write in order from a unit's start fills a fresh block. With log_kib any other write appends to
 * the unit's log; without, logs are unlimited. A write outside the open units closes the least
 * recently used one, and a full log closes and reopens its unit. Closing a unit is a
 *   switch         written in order to its end: the old block is erased, nothing is copied
 *   partial merge  written in order up to some place (with log_kib): the rest is copied
 *   full merge     else: the whole unit is copied
 */
#include "media.h"

static u64 merge_ns(struct flash_model *m)
{
	u64 ns = m->p.merge_ns;

	if (m->p.merge_spread_ns)
		ns += flash_random(&m->random) % (m->p.merge_spread_ns + 1);
	return ns;
}

/* Counts what closing a unit takes and returns its ns. */
static u64 close_unit(struct flash_model *m, const struct flash_unit *unit)
{
	u64 size = m->p.unit_kib * 2, erase = m->p.erase_ns, ns;

	if (unit->sequential && unit->next == size) {
		m->stats.unit_switches++;
		m->stats.erases++;
		return erase;
	}
	ns = merge_ns(m);
	if (m->p.log_kib && unit->sequential) {
		m->stats.partial_merges++;
		/* a merge is the copying of a unit and an erase */
		return ns > erase ? erase + (ns - erase) * (size - unit->next) / size : ns;
	}
	m->stats.merges++;
	return ns;
}

static void open_unit(struct flash_model *m, struct flash_unit *unit, u64 number)
{
	*unit = (struct flash_unit){.number = number, .sequential = true};
	m->stats.unit_opens++;
}

static bool in_order(const struct flash_unit *unit, u64 offset)
{
	return unit->sequential && offset == unit->next;
}

/* Append to the unit's log; return the time of the merge that this needs. */
static u64 append_log(struct flash_model *m, struct flash_unit *unit, u64 offset, u64 sectors)
{
	u64 taken = padded_bytes(m, sectors * 512), ns = 0;

	if (unit->log_bytes + taken > m->p.log_kib * 1024) {
		ns = close_unit(m, unit);
		open_unit(m, unit, unit->number);
		if (in_order(unit, offset))
			return ns;
	}
	unit->log_bytes += taken;
	return ns;
}

/* Record a write in an allocation unit; return the time to close units for it. */
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
			ns = close_unit(m, unit);
		open_unit(m, unit, number);
	}
	if (m->p.log_kib && !in_order(unit, offset))
		ns += append_log(m, unit, offset, sectors);
	unit->sequential &= offset == unit->next;
	unit->next = offset + sectors;
	unit->used = ++m->uses;
	return ns;
}

u64 units_touch(struct flash_model *m, u64 sector, u64 end)
{
	u64 size = m->p.unit_kib * 2, ns = 0, stop;

	for (; sector < end; sector = stop) {
		stop = (sector / size + 1) * size;
		stop = stop < end ? stop : end;
		ns += touch_unit(m, sector, stop - sector);
	}
	return ns;
}
