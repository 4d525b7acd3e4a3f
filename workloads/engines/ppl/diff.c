/* Makes the log record of a page change from the page's old and new version, as cells or as bytes,
 * and applies a record to a page: kind, cells, then runs; only runs if cells do not fit. Runs of
 * changed bytes: the distance from the last run, the length, the bytes. */
#include "diff.h"

#include <string.h>

#include "ssl.h"

/* Equal bytes shorter than this cost less inside a run than between two. */
enum { GAP = 3 };

static uint32_t same_from(const uint8_t *before, const uint8_t *after, uint32_t at, uint32_t size)
{
	while (at + 8 <= size && memcmp(before + at, after + at, 8) == 0)
		at += 8;
	while (at < size && before[at] == after[at])
		at++;
	return at;
}

void runs_add(const uint8_t *before, const uint8_t *after, uint32_t size, struct bytes *record)
{
	uint32_t last = 0;

	for (uint32_t at = same_from(before, after, 0, size); at < size;) {
		uint32_t end = at, next;

		do {
			while (end < size && before[end] != after[end])
				end++;
			next = same_from(before, after, end, size);
			if (next < size && next - end < GAP)
				end = next;
		} while (end == next && end < size);
		bytes_number(record, at - last);
		bytes_number(record, end - at);
		bytes_add(record, after + at, end - at);
		last = end;
		at = next;
	}
}

static bool runs_apply(struct reader *record, uint8_t *page, uint32_t size)
{
	uint64_t at = 0;

	while (record->next < record->end) {
		uint64_t gap = read_number(record), length = read_number(record);
		const uint8_t *bytes;

		if (record->bad || gap > size - at || length > size - at - gap)
			return false;
		bytes = read_bytes(record, length);
		if (bytes == NULL)
			return false;
		at += gap;
		memcpy(page + at, bytes, length);
		at += length;
	}
	return true;
}

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
