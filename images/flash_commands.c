// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send a list of commands to the flash model on this host, each a gap after the one before has
 * ended; return each one's latency and its page and map reads, merges and unit switches.
 *
 * images/flash_model.py compiles it with the sources of the module.
 */
#include "model.h"

struct flash_list {
	u64 commands;
	/* r, w, f (FUA), d (discard), F (FLUSH) */
	const char *op;
	const u64 *sector;
	const u64 *sectors;
	/* idle time before each, and the host's time in each, ns */
	const u64 *gap;
	const u64 *host;
	/* the time that the host sees: the device's by a factor, and more ns; NULL: the device's */
	const double *factor;
	const u64 *more;
};

static u64 send(struct flash_model *m, const struct flash_list *list, u64 i, u64 now)
{
	switch (list->op[i]) {
	case 'r':
		return flash_read(m, now, list->sector[i], list->sectors[i]);
	case 'd':
		return flash_discard(m, now, list->sector[i], list->sectors[i]);
	case 'F':
		return flash_flush(m, now);
	default:
		return flash_write(m, now, list->sector[i], list->sectors[i], list->op[i] == 'f');
	}
}

#define EVENTS 4

static void count(const struct flash_model *m, u64 events[EVENTS])
{
	const struct flash_stats *stats = &m->stats;

	events[0] = stats->page_reads;
	events[1] = stats->map_reads;
	events[2] = stats->merges + stats->partial_merges;
	events[3] = stats->unit_switches;
}

/* latency: of each command, ns; events: of each command EVENTS counts, as `count` has them, or
 * NULL. */
void flash_commands(struct flash_model *m, const struct flash_list *list, u64 *latency,
		    u64 *events);

void flash_commands(struct flash_model *m, const struct flash_list *list, u64 *latency, u64 *events)
{
	u64 at = 0, i, before[EVENTS], after[EVENTS];
	int k;

	for (i = 0; i < list->commands; i++) {
		u64 begin = at + list->gap[i], now = begin + list->host[i], end;

		count(m, before);
		end = send(m, list, i, now);
		count(m, after);
		for (k = 0; events && k < EVENTS; k++)
			events[i * EVENTS + k] = after[k] - before[k];
		if (list->factor)
			end = now + (u64)((double)(end - now) * list->factor[i]) + list->more[i];
		latency[i] = end - begin;
		at = end;
	}
}
