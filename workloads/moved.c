/* For engines that number their writes: attributes data that a flush or compaction writes again to
 * the call that wrote it first, in memory, and writes moved.csv after the measurement. */
#include "moved.h"

#include <stdio.h>
#include <stdlib.h>

#include "grow.h"
#include "output.h"

enum { NO_CALL = -1 };

static const char what[] = "notes of what the engine moved";

struct source {
	unsigned database;
	uint64_t number;
	int64_t call;
};

struct data {
	unsigned database;
	uint64_t number; /* in the end: its source's call */
	int64_t call, bytes;
};

static struct source *sources;
static size_t source_count, source_room;
static struct data *moves;
static size_t move_count, move_room;

void moved_source(unsigned database, uint64_t number, int64_t call)
{
	sources = grown(sources, source_count + 1, &source_room, sizeof(*sources), what);
	sources[source_count++] = (struct source){database, number, call};
}

void moved_data(unsigned database, int64_t call, uint64_t number, int64_t bytes)
{
	moves = grown(moves, move_count + 1, &move_room, sizeof(*moves), what);
	moves[move_count++] = (struct data){database, number, call, bytes};
}

/* Orders sources by their database and number. A write without data has the number of the next. */
static int by_number(const void *left, const void *right)
{
	const struct source *a = left, *b = right;

	if (a->database != b->database)
		return a->database < b->database ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

/* Returns the call that first wrote the data, or NO_CALL. Sources are in order. */
static int64_t source_of(const struct data *data)
{
	const struct source wanted = {data->database, data->number, INT64_MAX};
	size_t low = 0, high = source_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_number(&sources[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && sources[low - 1].database == data->database ? sources[low - 1].call
								      : NO_CALL;
}

static int by_call(const void *left, const void *right)
{
	const struct data *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return ((int64_t)a->number > (int64_t)b->number) -
	       ((int64_t)a->number < (int64_t)b->number);
}

static void write_row(FILE *file, const struct data *row)
{
	output_number(file, row->call);
	putc(',', file);
	if ((int64_t)row->number != NO_CALL)
		output_number(file, (int64_t)row->number);
	putc(',', file);
	output_number(file, row->bytes);
	putc('\n', file);
}

void moved_write(const char *directory)
{
	FILE *file;
	size_t kept = 0;

	if (source_count == 0)
		return;
	qsort(sources, source_count, sizeof(*sources), by_number);
	for (size_t i = 0; i < move_count; i++)
		moves[i].number = (uint64_t)source_of(&moves[i]);
	if (move_count > 0)
		qsort(moves, move_count, sizeof(*moves), by_call);
	file = output_open(directory, "moved.csv");
	fputs("call,source,bytes\n", file);
	for (size_t i = 0; i < move_count; i++) {
		if (i > 0 && by_call(&moves[kept], &moves[i]) == 0) {
			moves[kept].bytes += moves[i].bytes;
			continue;
		}
		if (i > 0)
			write_row(file, &moves[kept++]);
		moves[kept] = moves[i];
	}
	if (move_count > 0)
		write_row(file, &moves[kept]);
	output_commit(file);
}
