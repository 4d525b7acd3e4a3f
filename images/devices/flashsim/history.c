// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the device held after any of its commands.
 *
 * A device that keeps its history frees no change: what is settled stays in a list, oldest first.
 * As each change holds what it replaced, undoing them from the newest on and redoing them again
 * shows every past state, at the cost of a pointer a page; and behind such a state single changes
 * can be redone, as a power cut leaves them that took others. What is written on a state that is
 * shown is undone before the next.
 *
 * Which changes a cut leaves is not decided here: whoever reads the log can tell.
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

/* Undo what was written on the state that is shown, and then what is there apart. */
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
		flash_swap_sectors(dev, change, change->there, change->there_end);
		change->there = change->there_end = 0;
	}
}

/* Have the changes of all commands before that number there, and no other. */
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

/* Free the history; the device holds what it held after the last command of it. */
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

/* The first time that a past state is shown the history ends: what is written from then on is
 * undone. */
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
	/* power comes back */
	dev->model->live_bytes = dev->nr_pages * PAGE_SIZE;
	flash_reset(dev->model);
}

/*
 * "FIRST", "FIRST-LAST" or "FIRST:SECTOR+SECTORS": commands behind the state that is shown, or a
 * part of one, in the order of their numbers.
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
		change->there = (sector_t)change->piece[0].index * PAGE_SECTORS +
				change->piece[0].first + from;
		change->there_end = change->there + count;
		flash_swap_sectors(dev, change, change->there, change->there_end);
	}
	return 0;
}

static int on_words(struct flash_device *dev, char *words)
{
	char *verb = strsep(&words, " "), *word;
	u64 number;
	int error = 0;

	if (!words && (!strcmp(verb, "0") || !strcmp(verb, "1"))) {
		/* what was settled before is not in it */
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
 * "1": keep a history from now on; "0": no more, and free it. "show N": the device holds what it
 * did before the command of that number in its log. "keep WORD...": and also what these commands
 * changed. Nobody may have the device open meanwhile.
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
