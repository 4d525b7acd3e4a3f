/* All rows, and the last one. */
#include <inttypes.h>

#include "database.h"
#include "environment.h"

/* Goes through all rows and, with `check`, compares the sizes of their values. */
static bool go_through(struct database *database, bool check, int64_t *rows, struct error *error)
{
	leveldb_iterator_t *row = leveldb_create_iterator(database->db, database->read);
	char *message = NULL;
	bool good = true;

	*rows = 0;
	for (leveldb_iter_seek_to_first(row); good && leveldb_iter_valid(row);
	     leveldb_iter_next(row)) {
		size_t size;

		leveldb_iter_value(row, &size);
		if (check && (int64_t)size != database->value_size)
			good = error_set(error,
					 "row %" PRId64 " has a value of %zu bytes, --value-size "
					 "is %" PRId64,
					 *rows + 1, size, database->value_size);
		++*rows;
	}
	if (good) {
		leveldb_iter_get_error(row, &message);
		good = !call_failed("reading all rows", message, error);
	}
	leveldb_iter_destroy(row);
	environment_drain();
	return good;
}

bool rows_scan(struct database *database, int64_t *rows, struct error *error)
{
	return go_through(database, true, rows, error);
}

bool rows_count(struct database *database, int64_t *rows, struct error *error)
{
	return go_through(database, false, rows, error);
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
