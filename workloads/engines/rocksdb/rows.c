/* Keys and their values: what key_values.h calls of RocksDB. */
#include <stdlib.h>

#include "database.h"
#include "engine_files.h"
#include "files.h"

/* Bytes of rows that are loaded as one batch. */
enum { LOAD_BYTES = 1 << 20 };

bool key_read(struct database *database, const unsigned char *key, struct outcome *outcome,
	      struct error *error)
{
	char *message = NULL, *value;
	size_t size;

	value = rocksdb_get(database->db, database->read, (const char *)key, KEY_SIZE, &size,
			    &message);
	if (call_failed("reading a key", message, error))
		return false;
	if (value != NULL) {
		outcome->rows++;
		outcome->bytes += (int64_t)size;
	}
	rocksdb_free(value);
	return true;
}

bool key_put(struct database *database, const unsigned char *key, const unsigned char *value,
	     size_t size, struct error *error)
{
	(void)error;
	rocksdb_writebatch_put(database->batch, (const char *)key, KEY_SIZE, (const char *)value,
			       size);
	return true;
}

bool key_delete(struct database *database, const unsigned char *key, struct error *error)
{
	(void)error;
	rocksdb_writebatch_delete(database->batch, (const char *)key, KEY_SIZE);
	return true;
}

bool rows_write(struct database *database, struct error *error)
{
	uint64_t begin = engine_files_now();
	char *message = NULL;
	size_t size;

	rocksdb_write(database->db, database->write, database->batch, &message);
	if (call_failed("writing a batch", message, error))
		return false;
	if (!database->logs) {
		rocksdb_writebatch_data(database->batch, &size);
		files_kept(rocksdb_get_latest_sequence_number(database->db),
			   (size_t)rocksdb_writebatch_count(database->batch), size, begin);
	}
	return database->background == THREAD || background_finish(database, error);
}

/* RocksDB writes without reading, and all operations of a transaction as one batch. */
bool rows_commit(struct database *database, struct outcome *outcome, struct error *error)
{
	rocksdb_writebatch_clear(database->batch);
	return key_values_apply(database, outcome, error) &&
	       (!database->key_values.writes || rows_write(database, error));
}

bool rows_load(struct database *database, const struct transaction *transaction,
	       struct error *error)
{
	const struct operation *row = transaction->operations;
	unsigned char key[KEY_SIZE];
	bool written;

	encode(key, (uint64_t)row->key, sizeof(key));
	rocksdb_writebatch_put(database->batch, (char *)key, sizeof(key), row->data, row->size);
	database->loaded += row->size;
	if (database->loaded < LOAD_BYTES)
		return true;
	written = rows_write(database, error);
	rocksdb_writebatch_clear(database->batch);
	database->loaded = 0;
	return written;
}

/* A cursor is RocksDB's iterator. */
static rocksdb_iterator_t *iterator_of(struct cursor *cursor)
{
	return (rocksdb_iterator_t *)cursor;
}

struct cursor *cursor_open(struct database *database, struct error *error)
{
	(void)error;
	return (struct cursor *)rocksdb_create_iterator(database->db, database->read);
}

bool cursor_move(struct cursor *cursor, enum move move, const unsigned char *key, struct row *row)
{
	rocksdb_iterator_t *iterator = iterator_of(cursor);

	if (move == MOVE_FIRST)
		rocksdb_iter_seek_to_first(iterator);
	else if (move == MOVE_LAST)
		rocksdb_iter_seek_to_last(iterator);
	else if (move == MOVE_KEY)
		rocksdb_iter_seek(iterator, (const char *)key, KEY_SIZE);
	else
		rocksdb_iter_next(iterator);
	if (!rocksdb_iter_valid(iterator))
		return false;
	row->key = (const unsigned char *)rocksdb_iter_key(iterator, &row->key_size);
	row->value = (const unsigned char *)rocksdb_iter_value(iterator, &row->size);
	return true;
}

bool cursor_close(struct cursor *cursor, struct error *error)
{
	rocksdb_iterator_t *iterator = iterator_of(cursor);
	char *message = NULL;

	rocksdb_iter_get_error(iterator, &message);
	rocksdb_iter_destroy(iterator);
	return !call_failed("reading rows", message, error);
}
