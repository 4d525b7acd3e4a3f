/* Makes and applies the diff of two versions of a b-tree page by its cells (fileformat2.html,
 * 1.6): deleted, inserted, replaced or moved cells, each new one with all its bytes. Remaining
 * differences, in the page's header and between cells, follow as runs of bytes. */
#include <string.h>

#include "diff.h"
#include "ssl.h"

enum {
	INTERIOR_INDEX = 2,
	INTERIOR_TABLE = 5,
	LEAF_INDEX = 10,
	LEAF_TABLE = 13,
	FIRST_PAGE_HEADER = 100,
	LEAST_CELL = 4,
	AHEAD = 8, /* cells searched for a deletion or insertion */
};

/* An operation is its name and a count, or the offset and size of a cell. */
enum { KEEP, DELETE, INSERT, REPLACE, MOVE, END };

struct cells {
	const uint8_t *page;
	uint32_t size;	   /* of the page */
	uint32_t pointers; /* where they begin */
	uint32_t count;
};

static uint32_t get16be(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static bool cells_find(struct cells *cells, const uint8_t *page, uint32_t size, uint32_t number)
{
	uint32_t header = number == 1 ? FIRST_PAGE_HEADER : 0;
	uint8_t type = page[header];
	bool leaf = type == LEAF_INDEX || type == LEAF_TABLE;

	if (!leaf && type != INTERIOR_INDEX && type != INTERIOR_TABLE)
		return false;
	*cells = (struct cells){page, size, header + (leaf ? 8 : 12), get16be(page + header + 3)};
	return cells->pointers + 2 * cells->count <= size;
}

static uint32_t offset_of(const struct cells *cells, uint32_t index)
{
	return get16be(cells->page + cells->pointers + 2 * index);
}

/* Reads a number of at most nine bytes; returns its length. */
static uint32_t varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (uint32_t i = 0; i < 9 && at + i < end; i++) {
		if (i == 8) {
			*value = *value << 8 | at[i];
			return 9;
		}
		*value = *value << 7 | (at[i] & 0x7f);
		if (at[i] < 0x80)
			return i + 1;
	}
	return 9;
}

/* Returns the bytes of a payload that are in the page, and the page number of the rest (1.5,
 * "B-tree Cell Format"). Reserved bytes of the page are ignored: a cell may then be cut elsewhere,
 * which the runs correct. */
static uint64_t local(uint64_t payload, uint32_t usable, bool table)
{
	uint64_t most = table ? usable - 35 : (usable - 12) * 64 / 255 - 23;
	uint64_t least = (usable - 12) * 32 / 255 - 23, kept;

	if (payload <= most)
		return payload;
	kept = least + (payload - least) % (usable - 4);
	return (kept <= most ? kept : least) + 4;
}

/* Returns a cell's size; 0: it does not lie in the page. */
static uint32_t size_of(const struct cells *cells, uint32_t index)
{
	uint8_t type =
		cells->page[cells->pointers == 8 || cells->pointers == 12 ? 0 : FIRST_PAGE_HEADER];
	uint32_t offset = offset_of(cells, index);
	const uint8_t *at = cells->page + offset, *end = cells->page + cells->size;
	uint64_t payload = 0, ignored, size = 0;

	if (offset < cells->pointers + 2 * cells->count || offset + LEAST_CELL > cells->size)
		return 0;
	if (type == INTERIOR_INDEX || type == INTERIOR_TABLE)
		size = 4;
	if (type == INTERIOR_TABLE) {
		size += varint(at + size, end, &ignored);
	} else {
		size += varint(at + size, end, &payload);
		if (type == LEAF_TABLE)
			size += varint(at + size, end, &ignored);
		size += local(payload, cells->size, type == LEAF_TABLE);
	}
	if (size < LEAST_CELL)
		size = LEAST_CELL;
	return size <= cells->size - offset ? (uint32_t)size : 0;
}

static bool same(const struct cells *before, uint32_t i, const struct cells *after, uint32_t j)
{
	uint32_t size;

	if (i >= before->count || j >= after->count)
		return false;
	size = size_of(before, i);
	return size > 0 && size == size_of(after, j) &&
	       memcmp(before->page + offset_of(before, i), after->page + offset_of(after, j),
		      size) == 0;
}

/* Chooses the operation at a place where the cells differ. */
static int choose(const struct cells *before, uint32_t i, const struct cells *after, uint32_t j)
{
	if (j >= after->count)
		return DELETE;
	if (i >= before->count)
		return INSERT;
	if (same(before, i + 1, after, j + 1))
		return REPLACE;
	for (uint32_t ahead = 1; ahead <= AHEAD; ahead++) {
		if (same(before, i, after, j + ahead))
			return INSERT;
		if (same(before, i + ahead, after, j))
			return DELETE;
	}
	return REPLACE;
}

static void add_cell(struct bytes *record, const struct cells *cells, uint32_t index)
{
	bytes_number(record, offset_of(cells, index));
	bytes_number(record, size_of(cells, index));
	bytes_add(record, cells->page + offset_of(cells, index), size_of(cells, index));
}

static void add_count(struct bytes *record, int operation, uint32_t *count)
{
	if (*count > 0) {
		bytes_byte(record, (uint8_t)operation);
		bytes_number(record, *count);
	}
	*count = 0;
}

static void add_operations(const struct cells *before, const struct cells *after,
			   struct bytes *record)
{
	uint32_t kept = 0, deleted = 0;

	for (uint32_t i = 0, j = 0; i < before->count || j < after->count;) {
		bool equal = same(before, i, after, j);
		int operation = equal ? KEEP : choose(before, i, after, j);

		if (equal && offset_of(before, i) != offset_of(after, j))
			operation = MOVE;
		if (operation != KEEP)
			add_count(record, KEEP, &kept);
		if (operation != DELETE)
			add_count(record, DELETE, &deleted);
		kept += operation == KEEP;
		deleted += operation == DELETE;
		if (operation == INSERT || operation == REPLACE) {
			bytes_byte(record, (uint8_t)operation);
			add_cell(record, after, j);
		} else if (operation == MOVE) {
			bytes_byte(record, MOVE);
			bytes_number(record, offset_of(after, j));
		}
		i += operation != INSERT;
		j += operation != DELETE;
	}
	add_count(record, KEEP, &kept);
	add_count(record, DELETE, &deleted);
	bytes_byte(record, END);
}

bool cells_add(const struct page_pair *pages, struct bytes *record, uint8_t *work)
{
	struct cells before, after;
	struct reader reader;
	size_t start = record->size;

	if (!cells_find(&before, pages->before, pages->size, pages->number) ||
	    !cells_find(&after, pages->after, pages->size, pages->number) ||
	    before.pointers != after.pointers)
		return false;
	for (uint32_t i = 0; i < after.count; i++)
		if (size_of(&after, i) == 0)
			return false;
	bytes_byte(record, RECORD_CELLS);
	add_operations(&before, &after, record);
	memcpy(work, pages->before, pages->size);
	reader = (struct reader){record->data + start + 1, record->data + record->size, false};
	if (record->failed)
		return true;
	if (!cells_apply(&reader, work, pages->size, pages->number)) {
		record->size = start;
		return false;
	}
	runs_add(work, pages->after, pages->size, record);
	return true;
}

/* The cells under construction, made from those before. */
struct making {
	struct cells before;
	uint8_t *page;
	uint32_t taken; /* of those before */
	uint32_t made;
};

static bool put(struct making *making, uint64_t offset, const uint8_t *cell, uint64_t size)
{
	uint32_t pointer = making->before.pointers + 2 * making->made++;

	if (pointer + 2 > making->before.size || offset > making->before.size ||
	    size > making->before.size - offset)
		return false;
	making->page[pointer] = (uint8_t)(offset >> 8);
	making->page[pointer + 1] = (uint8_t)offset;
	if (cell != NULL)
		memcpy(making->page + offset, cell, size);
	return true;
}

static bool put_image(struct making *making, struct reader *record)
{
	uint64_t offset = read_number(record), size = read_number(record);
	const uint8_t *cell = size < making->before.size ? read_bytes(record, size) : NULL;

	return cell != NULL && put(making, offset, cell, size);
}

static bool operate(struct making *making, struct reader *record, int operation)
{
	const struct cells *before = &making->before;
	uint64_t count = 1, offset;

	if (operation == INSERT)
		return put_image(making, record);
	if (operation == KEEP || operation == DELETE)
		count = read_number(record);
	if (count > before->count - making->taken)
		return false;
	offset = operation == MOVE ? read_number(record) : 0;
	making->taken += (uint32_t)count;
	if (operation == REPLACE)
		return put_image(making, record);
	if (operation == MOVE)
		return put(making, offset, before->page + offset_of(before, making->taken - 1),
			   size_of(before, making->taken - 1));
	for (uint64_t i = making->taken - count; operation == KEEP && i < making->taken; i++)
		if (!put(making, offset_of(before, (uint32_t)i), NULL, 0))
			return false;
	return true;
}

bool cells_apply(struct reader *record, uint8_t *page, uint32_t size, uint32_t number)
{
	uint8_t *copy = sqlite3_malloc64(size);
	struct making making = {.page = page};
	bool good = copy != NULL;
	int operation = END;

	if (good) {
		memcpy(copy, page, size);
		good = cells_find(&making.before, copy, size, number);
	}
	while (good && (operation = read_byte(record)) < END)
		good = operate(&making, record, operation) && !record->bad;
	sqlite3_free(copy);
	return good && operation == END && !record->bad;
}
