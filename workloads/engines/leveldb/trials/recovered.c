/* The content of a LevelDB database that was opened after a power cut. */
#include "trials/recovered.h"

#include "engines/leveldb/database.h"

/* LevelDB does not report how a recovery went. */
bool engine_recovery(struct database *database, struct recovery *recovery)
{
	(void)database;
	(void)recovery;
	return false;
}

bool engine_rows(struct database *database, struct rows *rows, struct error *error)
{
	leveldb_iterator_t *row = leveldb_create_iterator(database->db, database->read);
	char *message = NULL;

	*rows = (struct rows){0, 0};
	for (leveldb_iter_seek_to_first(row); leveldb_iter_valid(row); leveldb_iter_next(row)) {
		size_t key_size, size;
		const char *key = leveldb_iter_key(row, &key_size);
		const char *value = leveldb_iter_value(row, &size);

		rows_add_pair(rows, (int64_t)decode((const unsigned char *)key, key_size), value,
			      size);
	}
	leveldb_iter_get_error(row, &message);
	leveldb_iter_destroy(row);
	return !call_failed("reading all rows", message, error);
}

/* Reads all rows again, with their checksums. */
bool engine_check(struct database *database, struct error *error)
{
	struct rows rows;

	leveldb_readoptions_set_verify_checksums(database->read, 1);
	return engine_rows(database, &rows, error);
}
