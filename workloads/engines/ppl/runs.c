/* Makes and applies the diff of two versions of a page as runs of changed bytes: the distance from
 * the last run, the length, the bytes. */
#include <string.h>

#include "diff.h"

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

bool runs_apply(struct reader *record, uint8_t *page, uint32_t size)
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
