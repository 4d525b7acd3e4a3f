/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of the time model of a flash device: its parameters with their limits, its counters,
 * and the functions that compute when each command completes, with the causes of its latency.
 *
 * Pure arithmetic on nanoseconds, without kernel calls: tests/flash builds it on the host. Commands
 * are given in order of arrival. Each reserves the parts of the device that it needs, so the model
 * is a set of times at which each part is next free.
 */
#ifndef FLASHSIM_MODEL_H
#define FLASHSIM_MODEL_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef uint64_t u64;
typedef uint32_t u32;
#endif

#define FLASH_SECOND 1000000000ULL
#define FLASH_MAX_DIES 64
#define FLASH_MAX_UNITS 64
#define FLASH_MAX_PENDING 256
#define FLASH_MAX_PROGRAMS 4096
#define FLASH_MAX_BLOCKS 65536
/* what the page map maps */
#define FLASH_PAGE 4096

/*
 * The parameters: P(name, live, least, most). There are no defaults: a device starts only when all
 * are set. A live one may change while the device is in use. README.md explains them.
 */
/* clang-format off */
#define FLASH_PARAMETERS(P)                             \
	P(seed, 1, 0, 4294967295ULL)                    \
	P(block_bytes, 0, 512, 4096)                    \
	P(queue_depth, 0, 1, 256)                       \
	P(write_cache, 0, 0, 1)                         \
	P(fua, 0, 0, 1)                                 \
	P(exclusive, 0, 0, 1)                           \
	P(rel_sectors, 0, 0, 1024)                      \
	P(meta_reliable, 0, 0, 1)                       \
	P(discard, 0, 0, 1)                             \
	P(command_ns, 1, 0, FLASH_SECOND)               \
	P(read_command_ns, 1, 0, FLASH_SECOND)          \
	P(write_command_ns, 1, 0, FLASH_SECOND)         \
	P(bus_mb_s, 1, 1, 100000)                       \
	P(dies, 0, 1, FLASH_MAX_DIES)                   \
	P(read_bytes, 0, 512, 1048576)                  \
	P(read_ns, 1, 0, FLASH_SECOND)                  \
	P(program_bytes, 0, 512, 1048576)               \
	P(pad_bytes, 0, 0, 1048576)                     \
	P(program_ns, 1, 0, FLASH_SECOND)               \
	P(program_kib_ns, 1, 0, FLASH_SECOND)           \
	P(slc_program_ns, 1, 0, FLASH_SECOND)           \
	P(cache_kib, 0, 0, 1048576)                     \
	P(cache_reorder, 0, 0, 1)                       \
	P(flush_clean_ns, 1, 0, FLASH_SECOND)           \
	P(flush_dirty_ns, 1, 0, FLASH_SECOND)           \
	P(flush_dirty_kib_ns, 1, 0, FLASH_SECOND)       \
	P(fua_ns, 1, 0, FLASH_SECOND)                   \
	P(discard_ns, 1, 0, FLASH_SECOND)               \
	P(open_units, 0, 0, FLASH_MAX_UNITS)            \
	P(unit_kib, 0, 4, 1048576)                      \
	P(log_kib, 0, 0, 1048576)                       \
	P(merge_ns, 1, 0, FLASH_SECOND)                 \
	P(merge_spread_ns, 1, 0, FLASH_SECOND)          \
	P(erase_kib, 0, 4, 65536)                       \
	P(erase_ns, 1, 0, FLASH_SECOND)                 \
	P(spare_permille, 0, 1, 1000)                   \
	P(gc_blocks, 0, 0, 65536)                       \
	P(fill_permille, 0, 0, 1000)                    \
	P(overwrite_permille, 0, 0, 100000)             \
	P(map_kib, 0, 0, 1048576)                       \
	P(slc_mib, 0, 0, 1048576)                       \
	P(undo_kib, 0, 64, 1048576)
/* clang-format on */

struct flash_parameters {
#define P(name, live, least, most) u64 name;
	FLASH_PARAMETERS(P)
#undef P
};

/*
 * The causes of a command's time, which add up to its latency. queue: waiting for the controller;
 * die: for a die busy with other work; map: to read the map; cache: for space in the cache; drain:
 * a FLUSH waiting for the cache's content.
 */
/* clang-format off */
#define FLASH_CAUSES(C)                                                            \
	C(queue) C(command) C(bus) C(die) C(read) C(program) C(merge) C(gc) C(map) \
	C(cache) C(drain) C(flush) C(fua) C(discard)
/* clang-format on */

enum flash_cause {
#define C(name) CAUSE_##name,
	FLASH_CAUSES(C)
#undef C
		FLASH_NR_CAUSES
};

/* Counts, and the dies' work in the background and during commands. */
/* clang-format off */
#define FLASH_COUNTS(C)                                                                    \
	C(reads) C(writes) C(read_bytes) C(write_bytes) C(fua_writes) C(reliable_commands) \
	C(flushes_clean) C(flushes_dirty) C(discards) C(discard_bytes) C(programs)         \
	C(program_bytes) C(padding_bytes) C(page_reads) C(map_reads) C(unit_opens)         \
	C(unit_switches) C(merges) C(partial_merges) C(erases) C(gc_bytes) C(slc_bytes)    \
	C(fold_bytes) C(program_busy_ns) C(merge_busy_ns) C(gc_busy_ns)
/* clang-format on */

struct flash_stats {
	u64 time[FLASH_NR_CAUSES];
#define C(name) u64 name;
	FLASH_COUNTS(C)
#undef C
};

/*
 * An open allocation unit. `next` is the sector after an unbroken run from its start; log_bytes are
 * those of its log in use.
 */
struct flash_unit {
	u64 number;
	u64 next;
	u64 used;
	u64 log_bytes;
	bool sequential;
};

struct flash_extent {
	u64 sector;
	u64 sectors;
};

/* Cached data on its way into a die. */
struct flash_program {
	u64 done;
	u64 bytes;
};

/* The page map; a slot is a page's place in the blocks. */
struct flash_map {
	/* of a page: its slot plus one, 0: none; of a slot: its page; of a block: its live pages */
	u32 *slot;
	u32 *page;
	u32 *live;
	/* a ring */
	u32 *free;
	u32 first_free;
	u32 nr_free;
	u32 blocks;
	u32 block_pages;
	/* the block that takes writes, and its slots in use */
	u32 open;
	u32 filled;
};

/* The part of the map that the controller holds: of each of the map's pages the last use, 0: not
 * held. */
struct flash_map_cache {
	u32 *used;
	u32 uses;
	u32 held;
};

struct flash_model {
	struct flash_parameters p;
	struct flash_stats stats;
	u64 sectors;

	u64 random;
	u64 controller_free;
	u64 bus_free;
	u64 die_free[FLASH_MAX_DIES];
	/* page in the die's register, plus one */
	u64 die_page[FLASH_MAX_DIES];
	u32 next_die;

	struct flash_unit unit[FLASH_MAX_UNITS];
	u32 open_units;
	u64 uses;

	struct flash_map map;
	struct flash_map_cache map_cache;

	/* what is programmed as SLC, and the time up to which idle time was used to fold it */
	u64 slc_bytes;
	u64 folded_until;

	/* the volatile cache: written since the last FLUSH; pending, in order of drain; being
	 * programmed */
	u64 dirty_bytes;
	/* when it took its newest data: data enter in order of arrival */
	u64 taken_at;
	u64 pending_bytes;
	u32 nr_pending;
	struct flash_extent pending[FLASH_MAX_PENDING];
	struct flash_extent drained[FLASH_MAX_PENDING];
	u64 programming_bytes;
	u32 first_program;
	u32 nr_programs;
	struct flash_program program[FLASH_MAX_PROGRAMS];
	/* the map's */
	u32 numbers[];
};

/* Return NULL if the parameters are consistent, else the fault. */
const char *flash_check(const struct flash_parameters *p, u64 sectors);
/* Bytes of a model with these parameters, which are consistent. */
u64 flash_size(const struct flash_parameters *p, u64 sectors);
/* Begin with a model of zeros; a used device ages here. */
void flash_model_init(struct flash_model *m, const struct flash_parameters *p, u64 sectors);
/* Empty cache, closed units, data of a fresh device packed into the first blocks, first random
 * number, counters zero.
 */
void flash_reset(struct flash_model *m);

/* Each returns the time at which the command completes, not before `now`. */
u64 flash_read(struct flash_model *m, u64 now, u64 sector, u64 sectors);
u64 flash_write(struct flash_model *m, u64 now, u64 sector, u64 sectors, bool reliable);
u64 flash_flush(struct flash_model *m, u64 now);
u64 flash_discard(struct flash_model *m, u64 now, u64 sector, u64 sectors);
/* Drop everything in progress: the power is off. Counters stay. */
void flash_power_cut(struct flash_model *m);

u64 flash_random(u64 *state);

#endif
