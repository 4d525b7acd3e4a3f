// SPDX-License-Identifier: GPL-2.0-only
/* The simulated flash as a block device: starts and stops the disk, executes and logs each request
 * (in memory, with faults), completes it by a timer at the time from the model. */
#include <linux/slab.h>

#include "flash.h"
#include "kernels.h"

#define MAX_SECTORS 1024U
#define MAX_DISCARD_SECTORS (64U << (20 - SECTOR_SHIFT))

/* Complete a command whose time has come; also in an interrupt. */
static void end_command(struct flash_command *cmd)
{
	struct flash_device *dev = cmd->dev;
	blk_status_t status = cmd->status;
	unsigned long flags;

	spin_lock_irqsave(&dev->done_lock, flags);
	if (cmd->epoch != dev->epoch) {
		status = BLK_STS_IOERR;
	} else {
		if (cmd->change) {
			cmd->change->durable = cmd->forced;
			cmd->change->pinned = false;
		}
		dev->flushed = max(dev->flushed, cmd->flush);
	}
	spin_unlock_irqrestore(&dev->done_lock, flags);
	blk_mq_end_request(blk_mq_rq_from_pdu(cmd), status);
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	end_command(container_of(timer, struct flash_command, timer));
	return HRTIMER_NORESTART;
}

/* Execute the command in memory; return its end, or 0 without memory. */
static u64 execute(struct flash_device *dev, struct flash_command *cmd, u64 now)
{
	struct request *rq = blk_mq_rq_from_pdu(cmd);
	sector_t sector = blk_rq_pos(rq), sectors = blk_rq_sectors(rq);
	bool fua = rq->cmd_flags & REQ_FUA;
	bool reliable = fua || (dev->p.meta_reliable && rq->cmd_flags & REQ_META);
	const struct flash_fault_kind *fault = flash_fault_of(dev, rq);
	sector_t stored = sectors;
	struct flash_change *change;

	if (fault)
		cmd->status = fault->status;
	if (fault && fault->stores == STORES_HALF)
		stored = max_t(sector_t, sectors / 2, 1);

	switch (req_op(rq)) {
	case REQ_OP_FLUSH:
		if (!fault)
			cmd->flush = flash_number_flush(dev);
		return flash_flush(dev->model, now);
	case REQ_OP_READ:
		flash_copy(dev, rq, sectors);
		return flash_read(dev->model, now, sector, sectors);
	case REQ_OP_WRITE:
		if (!fault || fault->stores != STORES_NOTHING) {
			change = flash_replace(dev, sector, stored, false);
			if (!change)
				return 0;
			flash_copy(dev, rq, stored);
			if (fault)
				flash_fault_spoil(dev, fault, sector + stored - 1);
			cmd->change = change;
			cmd->forced = reliable || !dev->p.cache_kib;
			flash_remember(dev, change);
		}
		dev->model->stats.fua_writes += fua;
		return flash_write(dev->model, now, sector, sectors, reliable);
	case REQ_OP_DISCARD:
		change = flash_replace(dev, sector, sectors, true);
		if (!change)
			return 0;
		cmd->change = change;
		cmd->forced = !dev->p.cache_kib;
		flash_remember(dev, change);
		return flash_discard(dev->model, now, sector, sectors);
	default:
		return 0;
	}
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct flash_command *cmd = blk_mq_rq_to_pdu(bd->rq);
	struct flash_device *dev = hctx->queue->queuedata;
	struct flash_log_entry entry = {
		/* a FLUSH has no sector: the kernel gives -1 */
		.sector = blk_rq_sectors(bd->rq) ? blk_rq_pos(bd->rq) : 0,
		.sectors = blk_rq_sectors(bd->rq),
		.operation = req_op(bd->rq) | (bd->rq->cmd_flags & REQ_FUA),
	};
	u64 now, done = 0;
	bool cut;

	blk_mq_start_request(bd->rq);
	cmd->dev = dev;
	cmd->change = NULL;
	cmd->forced = false;
	cmd->status = BLK_STS_OK;
	cmd->flush = 0;

	mutex_lock(&dev->lock);
	now = ktime_get_ns();
	cut = dev->cut;
	cmd->epoch = dev->epoch;
	if (!cut) {
		flash_settle(dev);
		done = execute(dev, cmd, now);
	}
	/* from here on the command may be gone; the device is busy while it is logged */
	if (done > now)
		hrtimer_start(&cmd->timer, ns_to_ktime(done), HRTIMER_MODE_ABS_SOFT);
	entry.begin_ns = now;
	entry.end_ns = done;
	flash_log(dev, &entry);
	mutex_unlock(&dev->lock);

	if (!done)
		return BLK_STS_IOERR;
	if (done == now)
		end_command(cmd);
	return BLK_STS_OK;
}

static int init_request(struct blk_mq_tag_set *set, struct request *rq, unsigned int hctx,
			flash_node node)
{
	struct flash_command *cmd = blk_mq_rq_to_pdu(rq);

	hrtimer_setup(&cmd->timer, timer_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	return 0;
}

/* No timeout: with a model of a slow device a command may take any time. */
static enum blk_eh_timer_return timeout(struct request *rq)
{
	return BLK_EH_RESET_TIMER;
}

static const struct blk_mq_ops queue_ops = {
	.queue_rq = queue_rq,
	.init_request = init_request,
	.timeout = timeout,
};

/* Called with disk->open_mutex held. */
static int flash_open(FLASH_OPEN(opened))
{
	struct flash_device *dev = FLASH_OPENED(opened)->private_data;

	if (dev->going)
		return -ENXIO;
	dev->openers++;
	return 0;
}

static void flash_release(FLASH_RELEASE(disk))
{
	struct flash_device *dev = disk->private_data;

	dev->openers--;
}

static const struct block_device_operations disk_ops = {
	.owner = THIS_MODULE,
	.open = flash_open,
	.release = flash_release,
};

static int add_queue(struct flash_device *dev)
{
	struct flash_limits limits = {
		.block_bytes = dev->p.block_bytes,
		.max_sectors = MAX_SECTORS,
		.max_discard_sectors = dev->p.discard ? MAX_DISCARD_SECTORS : 0,
		.write_cache = dev->p.write_cache,
		.fua = dev->p.fua,
	};

	dev->tags = (struct blk_mq_tag_set){
		.ops = &queue_ops,
		.nr_hw_queues = 1,
		.queue_depth = dev->p.queue_depth,
		.numa_node = NUMA_NO_NODE,
		.cmd_size = sizeof(struct flash_command),
		/* memory is allocated on the way */
		.flags = FLASH_MERGES | BLK_MQ_F_BLOCKING,
	};
	if (blk_mq_alloc_tag_set(&dev->tags))
		return -ENOMEM;
	dev->disk = flash_alloc_disk(&dev->tags, dev, &limits);
	if (!IS_ERR(dev->disk))
		return 0;
	blk_mq_free_tag_set(&dev->tags);
	return PTR_ERR(dev->disk);
}

int flash_start(struct flash_device *dev, const char *name)
{
	int error;

	dev->model = kvzalloc(flash_size(&dev->p, dev->sectors), GFP_KERNEL);
	if (!dev->model)
		return -ENOMEM;
	flash_model_init(dev->model, &dev->p, dev->sectors);
	dev->cut_random = ~dev->p.seed;
	dev->cut = dev->going = false;
	dev->cut_kept = dev->cut_lost = dev->settled_early = 0;
	dev->logging = false;

	error = add_queue(dev);
	if (error)
		goto free;
	dev->disk->fops = &disk_ops;
	dev->disk->private_data = dev;
	strscpy(dev->disk->disk_name, name, sizeof(dev->disk->disk_name));
	set_capacity(dev->disk, dev->sectors);
	error = device_add_disk(NULL, dev->disk, flash_disk_groups);
	if (!error)
		return 0;

	put_disk(dev->disk);
	blk_mq_free_tag_set(&dev->tags);
free:
	kvfree(dev->model);
	return error;
}

/* Fails while the device is open. */
int flash_stop(struct flash_device *dev)
{
	mutex_lock(&dev->disk->open_mutex);
	dev->going = !dev->openers;
	mutex_unlock(&dev->disk->open_mutex);
	if (!dev->going)
		return -EBUSY;
	del_gendisk(dev->disk);
	put_disk(dev->disk);
	blk_mq_free_tag_set(&dev->tags);
	flash_settle_all(dev);
	flash_history_clear(dev);
	flash_free_pages(dev);
	flash_log_clear(dev);
	kvfree(dev->model);
	return 0;
}
