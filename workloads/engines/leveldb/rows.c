/* Keys and their values: what key_values.h calls of LevelDB. */
#include <stdlib.h>

#include "database.h"
#include "leveldb/environment.h"

bool key_read(struct database *database, const unsigned char *key, struct outcome *outcome,
	      struct error *error)
{
	char *message = NULL, *value;
	size_t size;

	value = leveldb_get(database->db, database->read, (const char *)key, KEY_SIZE, &size,
			    &message);
	if (call_failed("reading a key", message, error))
		return false;
	if (value != NULL) {
		outcome->rows++;
		outcome->bytes += (int64_t)size;
	}
	leveldb_free(value);
	return true;
}

bool key_put(struct database *database, const unsigned char *key, const unsigned char *value,
	     size_t size, struct error *error)
{
	(void)error;
	leveldb_writebatch_put(database->batch, (const char *)key, KEY_SIZE, (const char *)value,
			       size);
	return true;
}

bool key_delete(struct database *database, const unsigned char *key, struct error *error)
{
	(void)error;
	leveldb_writebatch_delete(database->batch, (const char *)key, KEY_SIZE);
	return true;
}

/* LevelDB writes without reading, and all operations of a transaction as one batch. */
bool rows_commit(struct database *database, struct outcome *outcome, struct error *error)
{
	char *message = NULL;

	leveldb_writebatch_clear(database->batch);
	if (!key_values_apply(database, outcome, error))
		return false;
	/* a read may make a compaction due */
	environment_drain();
	if (!database->key_values.writes)
		return true;
	database->written++;
	/* 0 where it is no run */
	if (database->sync_every > 0)
		leveldb_writeoptions_set_sync(
			database->write,
			database->sync > 0 && database->written % database->sync_every == 0);
	leveldb_write(database->db, database->write, database->batch, &message);
	environment_drain();
	return !call_failed("writing a batch", message, error);
}

/* A cursor is LevelDB's iterator. */
static leveldb_iterator_t *iterator_of(struct cursor *cursor)
{
	return (leveldb_iterator_t *)cursor;
}

struct cursor *cursor_open(struct database *database, struct error *error)
{
	(void)error;
	return (struct cursor *)leveldb_create_iterator(database->db, database->read);
}

bool cursor_move(struct cursor *cursor, enum move move, const unsigned char *key, struct row *row)
{
	leveldb_iterator_t *iterator = iterator_of(cursor);

	if (move == MOVE_FIRST)
		leveldb_iter_seek_to_first(iterator);
	else if (move == MOVE_LAST)
		leveldb_iter_seek_to_last(iterator);
	else if (move == MOVE_KEY)
		leveldb_iter_seek(iterator, (const char *)key, KEY_SIZE);
	else
		leveldb_iter_next(iterator);
	if (!leveldb_iter_valid(iterator))
		return false;
	row->key = (const unsigned char *)leveldb_iter_key(iterator, &row->key_size);
	row->value = (const unsigned char *)leveldb_iter_value(iterator, &row->size);
	return true;
}

bool cursor_close(struct cursor *cursor, struct error *error)
{
	leveldb_iterator_t *iterator = iterator_of(cursor);
	char *message = NULL;

	leveldb_iter_get_error(iterator, &message);
	leveldb_iter_destroy(iterator);
	environment_drain();
	return !call_failed("reading rows", message, error);
}
