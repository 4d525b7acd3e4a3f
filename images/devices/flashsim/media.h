/* SPDX-License-Identifier: GPL-2.0-only */
/* Declares what the flash time model's files share: a command's time so far by cause, and functions
 * of dies (media.c), allocation units (units.c), page map (map.c) and its cache (map_cache.c). */
#ifndef FLASHSIM_MEDIA_H
#define FLASHSIM_MEDIA_H

#include "model.h"

/* A command in progress: its current time, and the causes of the time so far. */
struct flash_chain {
	u64 at;
	u64 part[FLASH_NR_CAUSES];
};

static inline u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline void chain_until(struct flash_chain *c, enum flash_cause cause, u64 time)
{
	if (time > c->at) {
		c->part[cause] += time - c->at;
		c->at = time;
	}
}

static inline void chain_for(struct flash_chain *c, enum flash_cause cause, u64 ns)
{
	c->part[cause] += ns;
	c->at += ns;
}

/* Bytes of flash that data of this size takes when programmed at once. */
static inline u64 padded_bytes(const struct flash_model *m, u64 bytes)
{
	u64 pad = m->p.pad_bytes;

	return pad ? (bytes + pad - 1) / pad * pad : bytes;
}

static inline u64 program_ns(const struct flash_model *m, u64 bytes)
{
	return m->p.program_ns + m->p.program_kib_ns * bytes / 1024;
}

/* Sense one page, unless it is in its die's register. */
void media_read(struct flash_model *m, struct flash_chain *c, u64 page);
/* Sense one page, also if it is in the register. */
void media_sense(struct flash_model *m, struct flash_chain *c, u64 page, enum flash_cause cause);
/* Program these extents on the next die. */
void media_program(struct flash_model *m, struct flash_chain *c, const struct flash_extent *part,
		   u32 parts, u64 bytes);

/* Use the time in which the device was idle before a command. */
void media_idle(struct flash_model *m, u64 now);

/* Record a write in allocation units; return the time to close units for it. */
u64 units_touch(struct flash_model *m, u64 sector, u64 end);

/* The numbers that the map needs, and their use. */
u64 map_numbers(const struct flash_parameters *p, u64 sectors);
void map_init(struct flash_model *m);
/* Map what one program writes; return the time of garbage collection. */
u64 map_program(struct flash_model *m, const struct flash_extent *part, u32 parts);
void map_discard(struct flash_model *m, u64 sector, u64 sectors);
/* Write what is mapped to empty blocks, in order; all others are free. */
void map_reset(struct flash_model *m);
/* Fill an empty device with other data and overwrite them at random, in no time. */
void map_age(struct flash_model *m);
/* Read what the controller does not hold of the map of these sectors. */
void map_cache_use(struct flash_model *m, struct flash_chain *c, u64 sector, u64 end);
u64 map_cache_numbers(const struct flash_parameters *p, u64 sectors);
void map_cache_clear(struct flash_model *m);
u64 flash_blocks(const struct flash_parameters *p, u64 sectors);

#endif
