/* Makes the log record of a page change from the page's old and new version, as cells or as bytes,
 * and applies a record to a page: kind, cells, then runs; only runs if cells do not fit. */
#include "diff.h"

#include <string.h>

#include "ssl.h"

void diff_add(const struct page_pair *pages, enum page_record kind, struct bytes *record)
{
	uint8_t *work = NULL;

	if (memcmp(pages->before, pages->after, pages->size) == 0)
		return;
	if (kind == RECORD_CELLS) {
		work = sqlite3_malloc64(pages->size);
		record->failed |= work == NULL;
	}
	if (work == NULL || !cells_add(pages, record, work)) {
		bytes_byte(record, RECORD_BYTES);
		runs_add(pages->before, pages->after, pages->size, record);
	}
	sqlite3_free(work);
}

bool diff_apply(const uint8_t *record, size_t size, uint8_t *page, uint32_t page_size,
		uint32_t number)
{
	struct reader reader = {record, record + size, false};

	if (read_byte(&reader) == RECORD_CELLS && !cells_apply(&reader, page, page_size, number))
		return false;
	return !reader.bad && runs_apply(&reader, page, page_size);
}
