/* What of a page changed, as a record of its log: as bytes, or as cells. Either gives the very same
 * page again from the one before. */
#ifndef COMMITPATH_PPL_DIFF_H
#define COMMITPATH_PPL_DIFF_H

#include "bytes.h"

enum page_record { RECORD_BYTES, RECORD_CELLS };

struct page_pair {
	const uint8_t *before, *after;
	uint32_t size, number;
};

/* Adds what changed; nothing where nothing did. A page without cells, before or after, is one of
 * bytes in either kind. What the record is comes first. */
void diff_add(const struct page_pair *pages, enum page_record kind, struct bytes *record);

/* Makes `page`, as it was before, what it was after. False: the record is damaged. */
bool diff_apply(const uint8_t *record, size_t size, uint8_t *page, uint32_t page_size,
		uint32_t number);

/* runs.c */
void runs_add(const uint8_t *before, const uint8_t *after, uint32_t size, struct bytes *record);
bool runs_apply(struct reader *record, uint8_t *page, uint32_t size);

/* cells.c. False: one of the pages has none, and nothing was added. `work` has the page's size. */
bool cells_add(const struct page_pair *pages, struct bytes *record, uint8_t *work);
bool cells_apply(struct reader *record, uint8_t *page, uint32_t size, uint32_t number);

#endif
