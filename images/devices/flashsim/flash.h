/* SPDX-License-Identifier: GPL-2.0-only */
/* Structures (device, command, log entry) and functions shared by the files that main.c lists. */
#ifndef FLASHSIM_FLASH_H
#define FLASHSIM_FLASH_H

#include <linux/blk-mq.h>
#include <linux/configfs.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "model.h"

/* A page or part of one, with its content before (or after) a write. */
struct flash_piece {
	pgoff_t index;
	u8 first;
	u8 count;
	struct page *page;
};

/* What a write or discard replaced, until it is durable; with a history, for good. */
struct flash_change {
	struct list_head list;
	/* its command's number in the log */
	u64 number;
	/* with a history: its sectors that are now swapped into the shown state; equal if none */
	sector_t applied, applied_end;
	/* its command is complete, which alone made it durable */
	bool durable;
	/* its command is in progress and points here */
	bool pinned;
	/* the first FLUSH sent after its completion; 0: none yet */
	u64 flush;
	u32 nr;
	struct flash_piece piece[];
};

/* The log of commands: docs/reference/formats.md, raw/device.bin. */
#define FLASH_LOG_MAGIC "CPFLASH1"

struct flash_log_header {
	char magic[8] __nonstring;
	u32 entry_size;
	u32 dev; /* major << 20 | minor */
	u64 entries;
	u64 lost;
};

struct flash_log_entry {
	/* arrival, and end by the model (0: failed, as power is off); CLOCK_MONOTONIC */
	u64 begin_ns;
	u64 end_ns;
	u64 sector;
	u32 sectors;
	/* REQ_OP_* and REQ_FUA */
	u32 operation;
};

/* What a command with a fault stores of what it was given. */
enum flash_stores {
	STORES_NOTHING,
	/* the first half of its sectors, at least one */
	STORES_HALF,
	/* all, but garbage in the last sector */
	STORES_GARBAGE,
	/* all, but for a bit of the last sector */
	STORES_FLIPPED,
};

struct flash_fault_kind {
	const char *name;
	unsigned int op;
	/* what the command is reported with */
	blk_status_t status;
	enum flash_stores stores;
};

struct flash_fault {
	const struct flash_fault_kind *kind; /* NULL: none */
	u64 number;			     /* the command that has it, from 1 */
	u64 seen;			     /* commands so far; from `number` on it has fired */
	sector_t sector;		     /* of the command that had it */
};

struct flash_device {
	struct config_group group;
	/* for configfs' attributes: parameters and power */
	struct mutex config_lock;
	u64 sectors;
	struct flash_parameters p;
	/* parameters that are set, one bit each */
	u64 set;
	bool powered;

	struct gendisk *disk;
	struct blk_mq_tag_set tags;
	/* under disk->open_mutex */
	unsigned int openers;
	bool going;

	/* for the model, the pages, the changes and the log */
	struct mutex lock;
	struct flash_model *model;
	struct xarray pages;
	u64 nr_pages;
	struct list_head changes;
	u64 nr_flushes;
	u64 undo_pages;
	u64 settled_early;
	u64 cut_random;
	u64 cut_kept;
	u64 cut_lost;
	/* history.c: whether changes are kept; the durable ones, oldest first */
	bool keeps_history;
	struct list_head history;
	/* whether a past state is shown; in the history, the newest change of that state, and
	 * the newest change examined after it */
	bool showing;
	struct list_head *shown;
	struct list_head *looked;
	bool logging;
	struct xarray log;
	u64 nr_log;
	u64 log_lost;
	struct flash_fault fault;

	/* for what completions change, in interrupts */
	spinlock_t done_lock;
	bool cut;
	u64 epoch;
	/* the newest completed FLUSH */
	u64 flushed;
};

struct flash_command {
	struct hrtimer timer;
	struct flash_device *dev;
	struct flash_change *change;
	/* its completion makes the change durable */
	bool forced;
	/* BLK_STS_OK, or that of its fault */
	blk_status_t status;
	u64 epoch;
	/* a FLUSH's number */
	u64 flush;
};

/* store.c: the data of the device */
struct flash_change *flash_replace(struct flash_device *dev, sector_t sector, sector_t sectors,
				   bool discard);
void flash_copy(struct flash_device *dev, struct request *rq, sector_t sectors);
void flash_swap(struct flash_device *dev, struct flash_change *change);
void flash_swap_sectors(struct flash_device *dev, struct flash_change *change, sector_t sector,
			sector_t end);
void flash_free_change(struct flash_change *change);
void flash_free_pages(struct flash_device *dev);

/* cache.c: which writes a power cut may lose */
void flash_remember(struct flash_device *dev, struct flash_change *change);
u64 flash_number_flush(struct flash_device *dev);
void flash_settle(struct flash_device *dev);
void flash_settle_all(struct flash_device *dev);
u64 flash_unflushed(struct flash_device *dev);
int flash_cut(struct flash_device *dev, const char *how);
void flash_restore(struct flash_device *dev);

/* history.c: past states of the device */
void flash_history_init(struct flash_device *dev);
void flash_history_clear(struct flash_device *dev);
int flash_history_command(struct flash_device *dev, char *words);

/* fault.c: a fault of one command */
int flash_fault_set(struct flash_device *dev, char *words);
const struct flash_fault_kind *flash_fault_of(struct flash_device *dev, struct request *rq);
void flash_fault_spoil(struct flash_device *dev, const struct flash_fault_kind *kind,
		       sector_t sector);

/* log.c: log of all commands */
void flash_log(struct flash_device *dev, const struct flash_log_entry *entry);
void flash_log_clear(struct flash_device *dev);
ssize_t flash_log_read(struct flash_device *dev, char *buffer, loff_t offset, size_t count);

/* queue.c: the block device */
int flash_start(struct flash_device *dev, const char *name);
int flash_stop(struct flash_device *dev);

/* sysfs.c: /sys/block/NAME/flashsim */
extern const struct attribute_group *flash_disk_groups[];

#endif
