/* Counts and hashes all rows of a key-value database that was opened after a power cut, and reads
 * each key by itself: for engines without SQL, what crash trials compare (trials/recovered.h). */
#include "trials/recovered.h"

#include <inttypes.h>
#include <stdlib.h>

#include "grow.h"

bool engine_recovery(struct database *database, struct recovery *recovery)
{
	return false;
}

static bool add_row(void *context, int64_t key, const void *value, size_t size, struct error *error)
{
	uint64_t hash = rows_word(ROWS_BEGIN, rows_value(ROWS_INTEGER, &key, sizeof(key)));
	struct rows *rows = context;

	rows->hash += rows_end(rows_word(hash, rows_value(ROWS_TEXT, value, size)));
	rows->count++;
	return true;
}

bool engine_rows(struct database *database, struct rows *rows, struct error *error)
{
	*rows = (struct rows){0, 0};
	return engine.each(database, add_row, rows, error);
}

/* The keys of a database, and the sizes of their values. */
struct keys {
	struct {
		int64_t key, size;
	} *of;
	size_t count, capacity;
};

static bool keep_key(void *context, int64_t key, const void *value, size_t size,
		     struct error *error)
{
	struct keys *keys = context;

	if (keys->count > 0 && keys->of[keys->count - 1].key >= key)
		return error_set(error, "key %" PRId64 " comes after key %" PRId64, key,
				 keys->of[keys->count - 1].key);
	keys->of = grown(keys->of, keys->count + 1, &keys->capacity, sizeof(*keys->of), "keys");
	keys->of[keys->count].key = key;
	keys->of[keys->count++].size = (int64_t)size;
	return true;
}

/* Reads a key by itself, as an app does: an engine takes another way to it than a scan. */
static bool read_key(struct database *database, int64_t key, int64_t size, struct error *error)
{
	const struct operation operation = {.kind = OPERATION_READ, .key = key};
	const struct transaction transaction = {OPERATION_READ, &operation, 1, 0, 0};
	struct rendered rendered;
	struct outcome outcome;

	if (!engine.render(database, &transaction, &rendered, error) ||
	    !engine_commit(database, &outcome, error))
		return false;
	return (outcome.rows == 1 && outcome.bytes == size) ||
	       error_set(error,
			 "key %" PRId64 " has %" PRId64 " bytes in a scan, and %" PRId64
			 " by itself",
			 key, size, outcome.bytes);
}

bool engine_check(struct database *database, struct error *error)
{
	struct keys keys = {NULL, 0, 0};
	bool good = engine.each(database, keep_key, &keys, error);

	for (size_t i = 0; good && i < keys.count; i++)
		good = read_key(database, keys.of[i].key, keys.of[i].size, error);
	free(keys.of);
	return good;
}
