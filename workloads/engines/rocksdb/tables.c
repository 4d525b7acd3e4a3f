/* Attributes the rows of RocksDB's tables to the writes that made them (block-based tables, without
 * compression). A row has the number of its write, until a compaction to the last level makes it 0:
 * the row is then the newest one of its key in the tables that the compaction deletes after it
 * wrote its own. */
#include "files.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "grow.h"
#include "key_values/key_values.h"
#include "leveldb/data.h"
#include "moved.h"

static const char what[] = "notes of what a table has";

struct moved_row {
	uint64_t key, number;
	int64_t call, bytes;
	bool zeroed; /* it had no number in the table */
};

struct table_file {
	struct table_file *next;
	char name[LONGEST_NAME];
	unsigned char *bytes; /* until it is closed */
	size_t size, room;
	struct data_part *parts;
	size_t part_count, part_room;
	struct moved_row *rows; /* by key */
	size_t row_count, row_room;
	bool settled; /* the numbers of its rows are known */
};

static struct table_file *tables;
static bool deleted; /* a table was, since the last settlement */

struct table_file *table_open(const char *name)
{
	struct table_file *table = calloc(1, sizeof(*table));

	if (table == NULL)
		fail("no memory for %s", what);
	if (deleted)
		tables_settle();
	strcpy(table->name, name);
	table->next = tables;
	tables = table;
	return table;
}

void table_write(struct table_file *table, const void *bytes, size_t size, int64_t call)
{
	table->bytes = grown(table->bytes, table->size + size, &table->room, 1, what);
	table->parts = grown(table->parts, table->part_count + 1, &table->part_room,
			     sizeof(*table->parts), what);
	memcpy(table->bytes + table->size, bytes, size);
	table->size += size;
	table->parts[table->part_count++] = (struct data_part){call, table->size};
}

/* Returns the size of a block of rows with its trailer, 0 if there is none. The rows end where one
 * would have no key: at the places of rows with whole keys, the first of which is 0. */
static size_t block_size(const unsigned char *bytes, size_t size)
{
	const unsigned char *next = bytes, *end = bytes + size, *after;
	size_t sizes[3], places = 0;

	while ((after = data_row_sizes(next, end, sizes)) != NULL &&
	       sizes[DATA_SHARED] + sizes[DATA_OTHERS] == KEY_SIZE + DATA_TAG &&
	       (size_t)(end - after) >= sizes[DATA_OTHERS] + sizes[DATA_VALUE])
		next = after + sizes[DATA_OTHERS] + sizes[DATA_VALUE];
	for (; end - next >= (ptrdiff_t)(sizeof(uint32_t) + DATA_TRAILER); places++) {
		uint64_t place = data_number(next, sizeof(uint32_t));

		next += sizeof(uint32_t);
		if (places > 0 && place == places)
			return (size_t)(next - bytes) + DATA_TRAILER;
		if ((places == 0) != (place == 0))
			return 0;
	}
	return 0;
}

static void take_row(void *context, const struct data_row *row)
{
	struct table_file *table = context;

	table->rows = grown(table->rows, table->row_count + 1, &table->row_room,
			    sizeof(*table->rows), what);
	table->rows[table->row_count++] =
		(struct moved_row){decode(row->key, KEY_SIZE), row->number, row->call,
				   (int64_t)row->size, row->number == 0};
}

void table_close(struct table_file *table)
{
	size_t place = 0, size;

	while ((size = block_size(table->bytes + place, table->size - place)) > 0) {
		data_rows(table->bytes + place, size, place, table->parts, take_row, table);
		place += size;
	}
	for (size_t i = 0; i < table->row_count; i++) {
		const struct moved_row *row = &table->rows[i];

		if (!row->zeroed)
			moved_data(ONE_DATABASE, row->call, row->number, row->bytes);
	}
	free(table->bytes);
	free(table->parts);
	table->bytes = NULL;
	table->parts = NULL;
}

/* Returns the number of a key's newest row, 0 if there is none from this run. */
static uint64_t newest(const struct table_file *table, uint64_t key)
{
	size_t low = 0, high = table->row_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->rows[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->row_count && table->rows[low].key == key ? table->rows[low].number : 0;
}

/* Reports the rows that had no number in the table. */
static void settle(struct table_file *table)
{
	for (size_t i = 0; i < table->row_count && !table->settled; i++) {
		const struct moved_row *row = &table->rows[i];

		if (row->zeroed)
			moved_data(ONE_DATABASE, row->call, row->number, row->bytes);
	}
	table->settled = true;
}

void table_delete(const char *name)
{
	struct table_file **link = &tables, *gone;

	while (*link != NULL && strcmp((*link)->name, name) != 0)
		link = &(*link)->next;
	gone = *link;
	deleted = true;
	/* one from before the run has no rows that matter */
	if (gone == NULL)
		return;
	*link = gone->next;
	for (struct table_file *table = tables; table != NULL; table = table->next) {
		for (size_t i = 0; i < table->row_count && !table->settled; i++) {
			struct moved_row *row = &table->rows[i];
			uint64_t number = row->zeroed ? newest(gone, row->key) : 0;

			if (number > row->number)
				row->number = number;
		}
	}
	settle(gone);
	free(gone->rows);
	free(gone);
}

void tables_settle(void)
{
	deleted = false;
	for (struct table_file *table = tables; table != NULL; table = table->next)
		if (table->bytes == NULL)
			settle(table);
}
