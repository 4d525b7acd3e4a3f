/* Makes the difference of two versions of a page as a record of bytes or of cells, and applies a
 * record to the old page: both kinds restore the same new page. */
#pragma once

#include "bytes.h"

enum page_record { RECORD_BYTES, RECORD_CELLS };

struct page_pair {
	const uint8_t *before, *after;
	uint32_t size, number;
};

/* Adds the difference; nothing if there is none. A page without cells, before or after, is compared
 * by bytes. The record's kind comes first. */
void diff_add(const struct page_pair *pages, enum page_record kind, struct bytes *record);

/* Turns `page` from its old into its new version. False: the record is damaged. */
bool diff_apply(const uint8_t *record, size_t size, uint8_t *page, uint32_t page_size,
		uint32_t number);

/* Adds runs of the bytes that differ. */
void runs_add(const uint8_t *before, const uint8_t *after, uint32_t size, struct bytes *record);

/* cells.c. False: one of the pages has no cells, and nothing was added. `work` has a page's size.
 */
bool cells_add(const struct page_pair *pages, struct bytes *record, uint8_t *work);
bool cells_apply(struct reader *record, uint8_t *page, uint32_t size, uint32_t number);
