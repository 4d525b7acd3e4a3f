// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cuts the power of the device: keeps an undo list of writes that are not durable yet, and undoes
 * those that a cut loses.
 *
 * Every write is kept, in order, with what it replaced, until it is durable: a FLUSH sent after its
 * completion has completed, or it is a completed FUA write, or the device has no volatile cache and
 * the write has completed. A write that the dies hold may still be lost: its mapping is not stored.
 *
 * At most undo_kib of replaced data is kept: beyond it the oldest writes settle early.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "flash.h"

static bool is_durable(const struct flash_device *dev, const struct flash_change *change)
{
	return change->durable || (change->flush && change->flush <= dev->flushed);
}

static void forget(struct flash_device *dev, struct flash_change *change)
{
	list_del(&change->list);
	dev->undo_pages -= change->nr;
	if (dev->keeps_history)
		list_add_tail(&change->list, &dev->history);
	else
		flash_free_change(change);
}

/* Keep the change of a command in progress. */
void flash_remember(struct flash_device *dev, struct flash_change *change)
{
	change->number = dev->nr_log;
	change->pinned = true;
	list_add_tail(&change->list, &dev->changes);
	dev->undo_pages += change->nr;
}

/* Number a FLUSH: it makes durable what is complete now, and nothing in progress. */
u64 flash_number_flush(struct flash_device *dev)
{
	struct flash_change *change;
	unsigned long flags;

	dev->nr_flushes++;
	spin_lock_irqsave(&dev->done_lock, flags);
	list_for_each_entry(change, &dev->changes, list)
	{
		if (!change->pinned && !change->flush)
			change->flush = dev->nr_flushes;
	}
	spin_unlock_irqrestore(&dev->done_lock, flags);
	return dev->nr_flushes;
}

/* Free durable changes, oldest first. Not while a past state is shown: writes to it are undone. */
void flash_settle(struct flash_device *dev)
{
	u64 most = dev->p.undo_kib * 1024 / PAGE_SIZE;
	struct flash_change *change, *next;

	if (dev->showing)
		return;
	list_for_each_entry_safe(change, next, &dev->changes, list)
	{
		unsigned long flags;
		bool pinned, durable;

		spin_lock_irqsave(&dev->done_lock, flags);
		pinned = change->pinned;
		durable = is_durable(dev, change);
		spin_unlock_irqrestore(&dev->done_lock, flags);
		if (pinned || (!durable && dev->undo_pages <= most))
			break;
		dev->settled_early += !durable;
		forget(dev, change);
	}
}

/* Make everything durable, with no command in progress. */
void flash_settle_all(struct flash_device *dev)
{
	struct flash_change *change, *next;

	list_for_each_entry_safe(change, next, &dev->changes, list) forget(dev, change);
}

u64 flash_unflushed(struct flash_device *dev)
{
	struct flash_change *change;
	unsigned long flags;
	u64 n = 0;

	spin_lock_irqsave(&dev->done_lock, flags);
	list_for_each_entry(change, &dev->changes, list) n += !is_durable(dev, change);
	spin_unlock_irqrestore(&dev->done_lock, flags);
	return n;
}

/* Undo every write, newest first; then redo those that survive, oldest first. */
static void keep(struct flash_device *dev, bool prefix, u64 length, u64 random)
{
	struct flash_change *change, *next;
	u64 seen = 0;

	list_for_each_entry_reverse(change, &dev->changes, list) flash_swap(dev, change);
	dev->cut_kept = dev->cut_lost = 0;
	list_for_each_entry_safe(change, next, &dev->changes, list)
	{
		bool stays = is_durable(dev, change);

		if (!stays) {
			stays = prefix ? seen < length : flash_random(&random) & 1;
			seen++;
			dev->cut_kept += stays;
			dev->cut_lost += !stays;
		}
		if (stays)
			flash_swap(dev, change);
		forget(dev, change);
	}
}

/*
 * Cut the power. HOW: "1" keeps what the cache's kind may keep, drawn from the seed: a prefix of
 * the unflushed writes for a FIFO cache, any of them for a reordering one; "all" keeps none;
 * "keep=N" the N oldest; "seed=N" is "1" with this seed.
 */
int flash_cut(struct flash_device *dev, const char *how)
{
	bool prefix = !dev->p.cache_reorder;
	u64 random = 0, length = 0, n;
	unsigned long flags;

	if (!strcmp(how, "all"))
		prefix = true;
	else if (!strncmp(how, "keep=", 5) && !kstrtou64(how + 5, 10, &length))
		prefix = true;
	else if (strcmp(how, "1") && (strncmp(how, "seed=", 5) || kstrtou64(how + 5, 10, &random)))
		return -EINVAL;

	mutex_lock(&dev->lock);
	if (dev->cut || dev->keeps_history) {
		mutex_unlock(&dev->lock);
		return -EBUSY;
	}
	if (!strcmp(how, "1"))
		random = flash_random(&dev->cut_random);
	/* from here on a completion changes nothing and reports an error */
	spin_lock_irqsave(&dev->done_lock, flags);
	dev->cut = true;
	dev->epoch++;
	spin_unlock_irqrestore(&dev->done_lock, flags);

	n = flash_unflushed(dev);
	if (strcmp(how, "all") && strncmp(how, "keep=", 5))
		length = flash_random(&random) % (n + 1);
	keep(dev, prefix, length, random);
	flash_power_cut(dev->model);
	mutex_unlock(&dev->lock);
	return 0;
}

/* Restore the power. */
void flash_restore(struct flash_device *dev)
{
	unsigned long flags;

	mutex_lock(&dev->lock);
	spin_lock_irqsave(&dev->done_lock, flags);
	dev->cut = false;
	spin_unlock_irqrestore(&dev->done_lock, flags);
	mutex_unlock(&dev->lock);
}
