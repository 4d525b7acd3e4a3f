/* SPDX-License-Identifier: GPL-2.0-only */
/* What the block layer calls otherwise from one kernel to another. Tried with 6.1 and 6.12. */
#ifndef FLASH_KERNELS_H
#define FLASH_KERNELS_H

#include <linux/blk-mq.h>
#include <linux/version.h>

/* What the kernel must know of a disk. */
struct flash_limits {
	unsigned int block_bytes, max_sectors;
	unsigned int max_discard_sectors; /* 0: it takes no discards */
	bool write_cache, fua;
};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define FLASH_OPEN(disk) struct gendisk *disk, blk_mode_t mode
#define FLASH_OPENED(disk) (disk)
#define FLASH_RELEASE(disk) struct gendisk *disk
#else
#define FLASH_OPEN(bdev) struct block_device *bdev, fmode_t mode
#define FLASH_OPENED(bdev) ((bdev)->bd_disk)
#define FLASH_RELEASE(disk) struct gendisk *disk, fmode_t mode
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
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

#endif
