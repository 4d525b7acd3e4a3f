// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data of the device in memory: pages in an xarray, allocated when written; a write keeps what
 * it replaced, so that it can be undone.
 *
 * A write first replaces the pages it touches and keeps the old ones, so that a change can be
 * swapped out and in again: a power cut walks over the changes. A whole page is replaced by
 * pointer, part of one is copied.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "flash.h"

static bool is_whole(const struct flash_piece *piece)
{
	return piece->count == PAGE_SECTORS;
}

/* Put a page (or none) into its place; return the old one. */
static struct page *exchange(struct flash_device *dev, pgoff_t index, struct page *page)
{
	/* the tree's nodes are small, and a power cut must not fail for lack of memory */
	struct page *old = page ? xa_store(&dev->pages, index, page, GFP_NOIO | __GFP_NOFAIL)
				: xa_erase(&dev->pages, index);

	dev->nr_pages += !!page - !!old;
	return old;
}

static void swap_sectors(const struct flash_piece *piece, struct page *page)
{
	u64 *a = page_address(page) + (piece->first << SECTOR_SHIFT);
	u64 *b = page_address(piece->page) + (piece->first << SECTOR_SHIFT);
	unsigned int n = (piece->count << SECTOR_SHIFT) / sizeof(*a);

	while (n--) {
		swap(*a, *b);
		a++;
		b++;
	}
}

/*
 * Return the page with which part of a page is swapped. It may be missing: a power cut may lose the
 * write that made the page and keep a later one to some of its sectors.
 */
static struct page *page_at(struct flash_device *dev, pgoff_t index)
{
	struct page *page = xa_load(&dev->pages, index);

	if (!page) {
		page = alloc_page(GFP_NOIO | __GFP_ZERO | __GFP_NOFAIL);
		exchange(dev, index, page);
	}
	return page;
}

/*
 * Swap the device's content with the change's, from `sector` to before `end`. What a discard left
 * of a page is swapped as a whole.
 */
void flash_swap_sectors(struct flash_device *dev, struct flash_change *change, sector_t sector,
			sector_t end)
{
	u32 i;

	for (i = 0; i < change->nr; i++) {
		struct flash_piece *piece = &change->piece[i], part = *piece;
		sector_t page = (sector_t)piece->index * PAGE_SECTORS;
		sector_t from = max(sector, page + piece->first);
		sector_t to = min(end, page + piece->first + piece->count);

		if (from >= to)
			continue;
		part.first = from - page;
		part.count = to - from;
		if (is_whole(&part))
			piece->page = exchange(dev, piece->index, piece->page);
		else if (piece->page)
			swap_sectors(&part, page_at(dev, piece->index));
	}
}

void flash_swap(struct flash_device *dev, struct flash_change *change)
{
	flash_swap_sectors(dev, change, 0, dev->sectors);
}

void flash_free_change(struct flash_change *change)
{
	u32 i;

	for (i = 0; i < change->nr; i++)
		if (change->piece[i].page)
			__free_page(change->piece[i].page);
	kvfree(change);
}

/* Set the piece's place to zeros, or to a new uninitialised page; keep the old. */
static int replace_piece(struct flash_device *dev, struct flash_piece *piece, bool discard)
{
	struct page *page;

	if (is_whole(piece)) {
		page = discard ? NULL : alloc_page(GFP_NOIO);
		if (!page && !discard)
			return -ENOMEM;
		piece->page = exchange(dev, piece->index, page);
		return 0;
	}
	page = xa_load(&dev->pages, piece->index);
	if (!page) {
		page = alloc_page(GFP_NOIO | __GFP_ZERO);
		if (!page)
			return -ENOMEM;
		exchange(dev, piece->index, page);
	}
	piece->page = alloc_page(GFP_NOIO | __GFP_ZERO);
	if (!piece->page)
		return -ENOMEM;
	swap_sectors(piece, page);
	return 0;
}

/* Count the pages that a discard has to touch: those that exist. */
static u64 present(struct flash_device *dev, pgoff_t first, pgoff_t last)
{
	unsigned long index;
	struct page *page;
	u64 n = 0;

	xa_for_each_range(&dev->pages, index, page, first, last) n++;
	return n;
}

/*
 * Make room for a write, or carry out a discard; return what was replaced. A write's sectors are
 * undefined until flash_copy.
 */
struct flash_change *flash_replace(struct flash_device *dev, sector_t sector, sector_t sectors,
				   bool discard)
{
	sector_t end = sector + sectors;
	pgoff_t first = sector / PAGE_SECTORS, last = (end - 1) / PAGE_SECTORS;
	u64 most = discard ? present(dev, first, last) : last - first + 1;
	struct flash_change *change;

	change = kvzalloc(struct_size(change, piece, most), GFP_NOIO);
	if (!change)
		return NULL;
	while (sector < end) {
		struct flash_piece *piece = &change->piece[change->nr];
		pgoff_t index = sector / PAGE_SECTORS;
		u32 offset = sector % PAGE_SECTORS;
		u32 n = min_t(sector_t, PAGE_SECTORS - offset, end - sector);

		if (discard && !xa_load(&dev->pages, index)) {
			/* skip a hole */
			if (!xa_find_after(&dev->pages, &index, last, XA_PRESENT))
				break;
			sector = (sector_t)index * PAGE_SECTORS;
			continue;
		}
		*piece = (struct flash_piece){index, offset, n};
		if (replace_piece(dev, piece, discard)) {
			flash_swap(dev, change);
			flash_free_change(change);
			return NULL;
		}
		change->nr++;
		sector += n;
	}
	return change;
}

/* Copy the data of a request's first sectors in or out; a write's pages exist. */
void flash_copy(struct flash_device *dev, struct request *rq, sector_t sectors)
{
	loff_t at = (loff_t)blk_rq_pos(rq) << SECTOR_SHIFT;
	loff_t end = at + ((loff_t)sectors << SECTOR_SHIFT);
	struct req_iterator iter;
	struct bio_vec bv;

	rq_for_each_segment(bv, rq, iter)
	{
		void *buffer = bvec_kmap_local(&bv), *data = buffer;
		unsigned int left = bv.bv_len;

		while (left && at < end) {
			struct page *page = xa_load(&dev->pages, at >> PAGE_SHIFT);
			unsigned int n = min_t(unsigned int, left, PAGE_SIZE - offset_in_page(at));

			n = min_t(loff_t, n, end - at);

			if (req_op(rq) == REQ_OP_WRITE)
				memcpy(page_address(page) + offset_in_page(at), data, n);
			else if (page)
				memcpy(data, page_address(page) + offset_in_page(at), n);
			else
				memset(data, 0, n);
			data += n;
			at += n;
			left -= n;
		}
		if (req_op(rq) == REQ_OP_READ)
			flush_dcache_page(bv.bv_page);
		kunmap_local(buffer);
	}
}

void flash_free_pages(struct flash_device *dev)
{
	unsigned long index;
	struct page *page;

	xa_for_each(&dev->pages, index, page) __free_page(page);
	xa_destroy(&dev->pages);
	dev->nr_pages = 0;
}
