/* All rows, and the last one. */
#include <inttypes.h>

#include "database.h"
#include "environment.h"

bool rows_each(struct database *database, each_row *row, void *context, struct error *error)
{
	leveldb_iterator_t *place = leveldb_create_iterator(database->db, database->read);
	char *message = NULL;
	bool good = true;

	for (leveldb_iter_seek_to_first(place); good && leveldb_iter_valid(place);
	     leveldb_iter_next(place)) {
		size_t key_size, size;
		const void *key = leveldb_iter_key(place, &key_size);
		const char *value = leveldb_iter_value(place, &size);

		good = key_size == sizeof(uint64_t)
			       ? row(context, (int64_t)decode(key, key_size), value, size, error)
			       : error_set(error, "a row has a key of %zu bytes, not %zu", key_size,
					   sizeof(uint64_t));
	}
	if (good) {
		leveldb_iter_get_error(place, &message);
		good = !call_failed("reading all rows", message, error);
	}
	leveldb_iter_destroy(place);
	environment_drain();
	return good;
}

/* Rows so far, and the size that their values must have; -1: any. */
struct counted {
	int64_t rows, value_size;
};

static bool count_row(void *context, int64_t key, const void *value, size_t size,
		      struct error *error)
{
	struct counted *counted = context;

	(void)key;
	(void)value;
	counted->rows++;
	return counted->value_size < 0 || (int64_t)size == counted->value_size ||
	       error_set(error,
			 "row %" PRId64 " has a value of %zu bytes, --value-size is %" PRId64,
			 counted->rows, size, counted->value_size);
}

bool rows_scan(struct database *database, int64_t *rows, struct error *error)
{
	struct counted counted = {0, database->value_size};
	bool good = rows_each(database, count_row, &counted, error);

	*rows = counted.rows;
	return good;
}

bool rows_count(struct database *database, int64_t *rows, struct error *error)
{
	struct counted counted = {0, -1};
	bool good = rows_each(database, count_row, &counted, error);

	*rows = counted.rows;
	return good;
}

bool rows_last_key(struct database *database, int64_t *key, struct error *error)
{
	leveldb_iterator_t *row = leveldb_create_iterator(database->db, database->read);
	char *message = NULL;
	size_t size;

	leveldb_iter_seek_to_last(row);
	*key = 0;
	if (leveldb_iter_valid(row))
		*key = (int64_t)decode((const unsigned char *)leveldb_iter_key(row, &size),
				       sizeof(uint64_t));
	leveldb_iter_get_error(row, &message);
	leveldb_iter_destroy(row);
	environment_drain();
	return !call_failed("reading the last key", message, error);
}
