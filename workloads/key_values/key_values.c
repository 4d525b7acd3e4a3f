/* Shared by key-value engines (LevelDB, RocksDB, LMDB): renders the operations of a transaction as
 * bytes, executes them by the engine's functions for a key, and loads, scans and counts rows. */
#include "key_values/key_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of rows that are loaded at once. */
enum { LOAD_BYTES = 1 << 20 };

void encode(unsigned char *bytes, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(number >> 8 * (size - 1 - i));
}

uint64_t decode(const unsigned char *bytes, size_t size)
{
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++)
		number = number << 8 | bytes[i];
	return number;
}

bool key_values_open(struct key_values *key_values, const struct options *options,
		     const struct workload *workload, struct error *error)
{
	size_t batch = workload_batch(workload, options);

	key_values->options = options;
	key_values->capacity =
		batch * (sizeof(struct head) + sizeof(uint64_t) + (size_t)options->value_size);
	key_values->buffer = malloc(key_values->capacity);
	if (key_values->buffer == NULL)
		return error_set(error, "no memory for a transaction of %zu bytes",
				 key_values->capacity);
	memset(key_values->buffer, 0xff, key_values->capacity);
	return true;
}

void key_values_close(struct key_values *key_values)
{
	free(key_values->buffer);
}

bool key_values_render(struct database *database, const struct transaction *transaction,
		       struct rendered *rendered, struct error *error)
{
	struct key_values *own = key_values_of(database);
	unsigned char *end = own->buffer, rows[sizeof(uint64_t)];

	own->writes = false;
	for (size_t i = 0; i < transaction->count; i++) {
		const struct operation *operation = &transaction->operations[i];
		bool is_scan = operation->kind == OPERATION_SCAN;
		size_t size = is_scan ? sizeof(rows) : operation->size;
		struct head head = {.kind = (unsigned char)operation->kind};

		if (operation->kind >= KEY_OPERATIONS)
			return error_set(error, "%s has no operation of kind %s", engine.title(),
					 operation_traits[operation->kind].word);
		if ((size_t)(end - own->buffer) + sizeof(head) + size > own->capacity)
			return error_set(error, "a transaction is longer than %zu bytes",
					 own->capacity);
		encode(head.key, (uint64_t)operation->key, sizeof(head.key));
		encode(head.size, size, sizeof(head.size));
		encode(rows, (uint64_t)operation->rows, sizeof(rows));
		memcpy(end, &head, sizeof(head));
		end += sizeof(head);
		if (size > 0)
			memcpy(end, is_scan ? (const char *)rows : operation->data, size);
		end += size;
		own->writes |= operation_traits[operation->kind].mutates;
	}
	own->size = (size_t)(end - own->buffer);
	*rendered = (struct rendered){own->buffer, own->size};
	return true;
}

bool key_values_load(struct database *database, const struct transaction *transaction,
		     struct error *error)
{
	struct key_values *own = key_values_of(database);
	const struct operation *row = transaction->operations;
	unsigned char key[KEY_SIZE];

	encode(key, (uint64_t)row->key, sizeof(key));
	if (!key_put(database, key, (const unsigned char *)row->data, row->size, error))
		return false;
	own->loaded += row->size;
	if (own->loaded < LOAD_BYTES)
		return true;
	own->loaded = 0;
	return rows_write(database, error);
}

/* Reads the values of at most `rows` keys from one on. */
static bool read_range(struct database *database, const unsigned char *key, uint64_t rows,
		       struct outcome *outcome, struct error *error)
{
	struct cursor *cursor = cursor_open(database, error);
	enum move move = MOVE_KEY;
	struct row row;

	if (cursor == NULL)
		return false;
	for (; rows > 0 && cursor_move(cursor, move, key, &row); rows--, move = MOVE_NEXT) {
		outcome->rows++;
		outcome->bytes += (int64_t)row.size;
	}
	return cursor_close(cursor, error);
}

/* Whether the key of an update or a delete is there would have to be read, so how many rows these
 * change is unknown. */
static bool apply(struct database *database, const struct head *head, const unsigned char *value,
		  size_t size, struct outcome *outcome, struct error *error)
{
	if (head->kind == OPERATION_SCAN)
		return read_range(database, head->key, decode(value, size), outcome, error);
	if (operation_traits[head->kind].reads && !key_read(database, head->key, outcome, error))
		return false;
	if (!operation_traits[head->kind].mutates)
		return true;
	if (head->kind != OPERATION_INSERT)
		outcome->changes = CHANGES_UNKNOWN;
	else if (outcome->changes != CHANGES_UNKNOWN)
		outcome->changes++;
	if (head->kind == OPERATION_DELETE)
		return key_delete(database, head->key, error);
	return key_put(database, head->key, value, size, error);
}

bool key_values_apply(struct database *database, struct outcome *outcome, struct error *error)
{
	const struct key_values *own = key_values_of(database);
	const unsigned char *next = own->buffer, *end = next + own->size;

	while (next < end) {
		const struct head *head = (const struct head *)next;
		size_t size = decode(head->size, sizeof(head->size));

		next += sizeof(*head);
		if (!apply(database, head, next, size, outcome, error))
			return false;
		next += size;
	}
	return true;
}

bool key_values_each(struct database *database, each_row *take, void *context, struct error *error)
{
	struct cursor *cursor = cursor_open(database, error);
	enum move move = MOVE_FIRST;
	bool good = true;
	struct row row;

	if (cursor == NULL)
		return false;
	for (; good && cursor_move(cursor, move, NULL, &row); move = MOVE_NEXT)
		good = row.key_size == KEY_SIZE
			       ? take(context, (int64_t)decode(row.key, KEY_SIZE), row.value,
				      row.size, error)
			       : error_set(error, "a row has a key of %zu bytes, not %d",
					   row.key_size, KEY_SIZE);
	if (good)
		return cursor_close(cursor, error);
	cursor_close(cursor, &(struct error){0});
	return false;
}

/* Rows so far. options: of a run with a size of values to check; NULL: none. */
struct counted {
	int64_t rows;
	const struct options *options;
};

static bool count_row(void *context, int64_t key, const void *value, size_t size,
		      struct error *error)
{
	struct counted *counted = context;

	counted->rows++;
	return counted->options == NULL ||
	       workload_check_size(counted->options, counted->rows, (int64_t)size, error);
}

bool key_values_scan(struct database *database, int64_t *rows, struct error *error)
{
	struct counted counted = {0, key_values_of(database)->options};
	bool good = key_values_each(database, count_row, &counted, error);

	*rows = counted.rows;
	return good;
}

bool key_values_count(struct database *database, int64_t *rows, struct error *error)
{
	struct counted counted = {0, NULL};
	bool good = key_values_each(database, count_row, &counted, error);

	*rows = counted.rows;
	return good;
}

bool key_values_last_key(struct database *database, int64_t *key, struct error *error)
{
	struct cursor *cursor = cursor_open(database, error);
	struct row row;

	*key = 0;
	if (cursor == NULL)
		return false;
	if (cursor_move(cursor, MOVE_LAST, NULL, &row))
		*key = (int64_t)decode(row.key, KEY_SIZE);
	return cursor_close(cursor, error);
}
