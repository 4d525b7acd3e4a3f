// SPDX-License-Identifier: GPL-2.0-only
/*
 * Restores past states for crash trials: the device's content before any command of its log, with
 * the writes of chosen later commands.
 *
 * With a history no change is freed: durable ones stay in a list, oldest first. As each change
 * holds what it replaced, undoing them from the newest on and redoing them shows any past state, at
 * the cost of a pointer per page. On such a state single later changes can be redone, as a power
 * cut may leave them. Writes to a shown state are undone before the next is shown.
 *
 * Which changes a cut leaves is not decided here but by the reader of the log.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "flash.h"
#include "kernels.h"

static struct flash_change *change_at(struct list_head *place)
{
	return list_entry(place, struct flash_change, list);
}

void flash_history_init(struct flash_device *dev)
{
	INIT_LIST_HEAD(&dev->history);
	dev->shown = dev->looked = &dev->history;
}

/* Undo the writes to the shown state, then the single changes applied to it. */
static void rewind(struct flash_device *dev)
{
	struct flash_change *change, *next;

	list_for_each_entry_safe_reverse(change, next, &dev->changes, list)
	{
		flash_swap(dev, change);
		list_del(&change->list);
		dev->undo_pages -= change->nr;
		flash_free_change(change);
	}
	for (; dev->looked != dev->shown; dev->looked = dev->looked->prev) {
		change = change_at(dev->looked);
		flash_swap_sectors(dev, change, change->applied, change->applied_end);
		change->applied = change->applied_end = 0;
	}
}

/* Apply the changes of exactly the commands before that number. */
static void move_to(struct flash_device *dev, u64 number)
{
	while (dev->shown != &dev->history && change_at(dev->shown)->number >= number) {
		flash_swap(dev, change_at(dev->shown));
		dev->shown = dev->shown->prev;
	}
	while (dev->shown->next != &dev->history && change_at(dev->shown->next)->number < number) {
		dev->shown = dev->shown->next;
		flash_swap(dev, change_at(dev->shown));
	}
	dev->looked = dev->shown;
}

/* Free the history; the device holds its content after the last command. */
void flash_history_clear(struct flash_device *dev)
{
	struct flash_change *change, *next;

	if (dev->showing) {
		rewind(dev);
		move_to(dev, U64_MAX);
		dev->showing = false;
	}
	list_for_each_entry_safe(change, next, &dev->history, list) flash_free_change(change);
	flash_history_init(dev);
}

/* Show a state. The first time ends the history: later writes are undone. */
static void show(struct flash_device *dev, u64 number)
{
	if (!dev->showing) {
		flash_settle_all(dev);
		dev->shown = dev->history.prev;
		dev->looked = dev->shown;
		dev->showing = true;
		dev->logging = false;
	}
	rewind(dev);
	move_to(dev, number);
	/* as when power returns */
	flash_reset(dev->model);
}

/*
 * "FIRST", "FIRST-LAST" or "FIRST:SECTOR+SECTORS": apply commands after the shown state, or part of
 * one, in ascending order.
 */
static int keep(struct flash_device *dev, char *word)
{
	u64 first, last, from = 0, count = dev->sectors;
	char *range = strchr(word, '-'), *part = strchr(word, ':'), *size;

	if (part) {
		*part++ = '\0';
		size = strchr(part, '+');
		if (range || !size)
			return -EINVAL;
		*size++ = '\0';
		if (kstrtou64(part, 10, &from) || kstrtou64(size, 10, &count) ||
		    from > dev->sectors || count > dev->sectors)
			return -EINVAL;
	}
	if (range)
		*range++ = '\0';
	if (kstrtou64(word, 10, &first) || kstrtou64(range ?: word, 10, &last))
		return -EINVAL;
	if (dev->looked != dev->shown && change_at(dev->looked)->number >= first)
		return -EINVAL;
	while (dev->looked->next != &dev->history && change_at(dev->looked->next)->number <= last) {
		struct flash_change *change = change_at(dev->looked->next);

		dev->looked = &change->list;
		if (change->number < first || !change->nr)
			continue;
		change->applied = (sector_t)change->piece[0].index * PAGE_SECTORS +
				  change->piece[0].first + from;
		change->applied_end = change->applied + count;
		flash_swap_sectors(dev, change, change->applied, change->applied_end);
	}
	return 0;
}

static int on_words(struct flash_device *dev, char *words)
{
	char *verb = strsep(&words, " "), *word;
	u64 number;
	int error = 0;

	if (!words && (!strcmp(verb, "0") || !strcmp(verb, "1"))) {
		/* what was durable before is not in it */
		if (dev->keeps_history)
			flash_history_clear(dev);
		dev->keeps_history = *verb == '1';
		return 0;
	}
	if (!dev->keeps_history || !words)
		return -EINVAL;
	if (!strcmp(verb, "show")) {
		if (kstrtou64(words, 10, &number) || number > dev->nr_log)
			return -EINVAL;
		show(dev, number);
		return 0;
	}
	if (strcmp(verb, "keep") || !dev->showing)
		return -EINVAL;
	while (!error && (word = strsep(&words, " ")))
		error = keep(dev, word);
	return error;
}

/*
 * "1": keep a history from now on; "0": stop, and free it. "show N": restore the content before
 * command N of the log. "keep WORD...": also apply these commands' changes. The device must not be
 * open.
 */
int flash_history_command(struct flash_device *dev, char *words)
{
	struct request_queue *queue = dev->disk->queue;
	bool shows = strlen(words) > 1;
	unsigned int frozen;
	int error;

	mutex_lock(&dev->disk->open_mutex);
	if (shows && dev->openers) {
		mutex_unlock(&dev->disk->open_mutex);
		return -EBUSY;
	}
	frozen = flash_freeze(queue);
	mutex_lock(&dev->lock);
	error = on_words(dev, words);
	mutex_unlock(&dev->lock);
	flash_unfreeze(queue, frozen);
	mutex_unlock(&dev->disk->open_mutex);
	return error;
}
