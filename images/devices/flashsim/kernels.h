/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hides differences between kernels' block layers behind functions and types of one name. HAS_* are
 * detected in the headers (Kbuild), not derived from the release, as distributions backport
 * changes. Tested with 6.1, 6.12 and 7.3.
 */
#ifndef FLASH_KERNELS_H
#define FLASH_KERNELS_H

#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/sysfs.h>

/* Limits that the kernel needs for a disk. */
struct flash_limits {
	unsigned int block_bytes, max_sectors;
	unsigned int max_discard_sectors; /* 0: no discards */
	bool write_cache, fua;
};

#ifdef HAS_BLK_MODE
#define FLASH_OPEN(disk) struct gendisk *disk, blk_mode_t mode
#define FLASH_OPENED(disk) (disk)
#define FLASH_RELEASE(disk) struct gendisk *disk
#else
#define FLASH_OPEN(bdev) struct block_device *bdev, fmode_t mode
#define FLASH_OPENED(bdev) ((bdev)->bd_disk)
#define FLASH_RELEASE(disk) struct gendisk *disk, fmode_t mode
#endif

#ifdef HAS_FEATURES
static inline struct gendisk *flash_alloc_disk(struct blk_mq_tag_set *tags, void *data,
					       const struct flash_limits *l)
{
	struct queue_limits limits = {
		.logical_block_size = l->block_bytes,
		.max_hw_sectors = l->max_sectors,
	};

	if (l->write_cache)
		limits.features |= BLK_FEAT_WRITE_CACHE;
	if (l->fua)
		limits.features |= BLK_FEAT_FUA;
	if (l->max_discard_sectors) {
		limits.max_hw_discard_sectors = l->max_discard_sectors;
		limits.discard_granularity = l->block_bytes;
	}
	return blk_mq_alloc_disk(tags, &limits, data);
}
#else
static inline struct gendisk *flash_alloc_disk(struct blk_mq_tag_set *tags, void *data,
					       const struct flash_limits *l)
{
	struct gendisk *disk = blk_mq_alloc_disk(tags, data);

	if (IS_ERR(disk))
		return disk;
	/* later kernels have BLK_FEAT_ROTATIONAL in its place, which is not set */
	blk_queue_flag_set(QUEUE_FLAG_NONROT, disk->queue);
	blk_queue_logical_block_size(disk->queue, l->block_bytes);
	blk_queue_max_hw_sectors(disk->queue, l->max_sectors);
	blk_queue_write_cache(disk->queue, l->write_cache, l->fua);
	if (l->max_discard_sectors) {
		blk_queue_max_discard_sectors(disk->queue, l->max_discard_sectors);
		disk->queue->limits.discard_granularity = l->block_bytes;
	}
	return disk;
}
#endif

/* Later kernels merge requests unless forbidden. */
#ifdef HAS_MERGE_FLAG
#define FLASH_MERGES BLK_MQ_F_SHOULD_MERGE
#else
#define FLASH_MERGES 0
#endif

#ifdef HAS_SIGNED_NODE
typedef int flash_node;
#else
typedef unsigned int flash_node;
#endif

#ifndef HAS_FREEZE_FLAGS
static inline unsigned int flash_freeze(struct request_queue *queue)
{
	blk_mq_freeze_queue(queue);
	return 0;
}

static inline void flash_unfreeze(struct request_queue *queue, unsigned int flags)
{
	blk_mq_unfreeze_queue(queue);
}
#else
#define flash_freeze blk_mq_freeze_queue
#define flash_unfreeze blk_mq_unfreeze_queue
#endif

#ifndef HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* A file of bytes in sysfs, and a list of them. */
#ifdef HAS_CONST_FILES
typedef const struct bin_attribute flash_file;
typedef const struct bin_attribute *const flash_file_list;
#else
typedef struct bin_attribute flash_file;
typedef struct bin_attribute *flash_file_list;
#endif

#endif
