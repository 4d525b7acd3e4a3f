// SPDX-License-Identifier: GPL-2.0-only
/*
 * Log of all commands since the last reset: the device's own record, independent of the kernel's
 * block layer. /sys/block/NAME/flashsim/log is a header and the entries in order of arrival.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "flash.h"

#define ENTRIES_PER_PAGE (PAGE_SIZE / sizeof(struct flash_log_entry))
/* 32 MiB of the board's memory, and once more where a run's files are assembled */
#define MAX_ENTRIES (1ULL << 20)

static struct page *page_of(struct flash_device *dev, u64 number)
{
	pgoff_t index = number / ENTRIES_PER_PAGE;
	struct page *page = xa_load(&dev->log, index);

	if (page || number >= MAX_ENTRIES)
		return page;
	page = alloc_page(GFP_NOIO);
	if (page && xa_is_err(xa_store(&dev->log, index, page, GFP_NOIO))) {
		__free_page(page);
		page = NULL;
	}
	return page;
}

/* Called with dev->lock held. Nothing is logged before the first reset. */
void flash_log(struct flash_device *dev, const struct flash_log_entry *entry)
{
	struct page *page = dev->logging ? page_of(dev, dev->nr_log) : NULL;
	struct flash_log_entry *entries;

	if (!page) {
		dev->log_lost += dev->logging;
		return;
	}
	entries = page_address(page);
	entries[dev->nr_log++ % ENTRIES_PER_PAGE] = *entry;
}

void flash_log_clear(struct flash_device *dev)
{
	unsigned long index;
	struct page *page;

	xa_for_each(&dev->log, index, page) __free_page(page);
	xa_destroy(&dev->log);
	dev->nr_log = dev->log_lost = 0;
}

/* Return the current header: entries may follow that it does not count. */
static struct flash_log_header header_of(struct flash_device *dev)
{
	return (struct flash_log_header){
		.magic = FLASH_LOG_MAGIC,
		.entry_size = sizeof(struct flash_log_entry),
		.dev = MAJOR(disk_devt(dev->disk)) << 20 | MINOR(disk_devt(dev->disk)),
		.entries = dev->nr_log,
		.lost = dev->log_lost,
	};
}

/* Read bytes of header and entries from `offset` on; return their number, 0 at the end. */
ssize_t flash_log_read(struct flash_device *dev, char *buffer, loff_t offset, size_t count)
{
	size_t done = 0;

	mutex_lock(&dev->lock);
	while (done < count) {
		struct flash_log_header header = header_of(dev);
		u64 at = offset + done, number, part;
		const char *source = (const char *)&header + at;
		size_t size;

		if (at >= sizeof(header)) {
			at -= sizeof(header);
			number = at / sizeof(struct flash_log_entry);
			part = at % (ENTRIES_PER_PAGE * sizeof(struct flash_log_entry));
			if (number >= dev->nr_log)
				break;
			source = (char *)page_address(page_of(dev, number)) + part;
			size = min(dev->nr_log * sizeof(struct flash_log_entry) - at,
				   PAGE_SIZE - part);
		} else {
			size = sizeof(header) - at;
		}
		size = min(size, count - done);
		memcpy(buffer + done, source, size);
		done += size;
	}
	mutex_unlock(&dev->lock);
	return done;
}
