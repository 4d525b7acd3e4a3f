/* Reads, writes, deletes and scans keys, and commits a transaction's writes as one batch, by the C
 * API that LevelDB and RocksDB have in common, but for the prefix of its names: STORE of the
 * engine's database.h. */
#include "database.h"

struct key_values *key_values_of(struct database *database)
{
	return &database->key_values;
}

bool key_read(struct database *database, const unsigned char *key, struct outcome *outcome,
	      struct error *error)
{
	char *message = NULL, *value;
	size_t size;

	value = STORE(get)(database->db, database->read, (const char *)key, KEY_SIZE, &size,
			   &message);
	if (call_failed("reading a key", message, error))
		return false;
	if (value != NULL) {
		outcome->rows++;
		outcome->bytes += (int64_t)size;
	}
	STORE(free)(value);
	return true;
}

bool key_put(struct database *database, const unsigned char *key, const unsigned char *value,
	     size_t size, struct error *error)
{
	const char *bytes = (const char *)value;

	STORE(writebatch_put)(database->batch, (const char *)key, KEY_SIZE, bytes, size);
	return true;
}

bool key_delete(struct database *database, const unsigned char *key, struct error *error)
{
	STORE(writebatch_delete)(database->batch, (const char *)key, KEY_SIZE);
	return true;
}

/* Executes the rendered operations; all writes of a transaction are one batch. */
bool rows_commit(struct database *database, struct outcome *outcome, struct error *error)
{
	if (!key_values_apply(database, outcome, error))
		return false;
	rows_were_read();
	return !database->key_values.writes || rows_write(database, error);
}

/* A cursor is an iterator of the store. */
typedef STORE(iterator_t) store_iterator;

static store_iterator *iterator_of(struct cursor *cursor)
{
	return (store_iterator *)cursor;
}

struct cursor *cursor_open(struct database *database, struct error *error)
{
	return (struct cursor *)STORE(create_iterator)(database->db, database->read);
}

bool cursor_move(struct cursor *cursor, enum move move, const unsigned char *key, struct row *row)
{
	store_iterator *iterator = iterator_of(cursor);

	if (move == MOVE_FIRST)
		STORE(iter_seek_to_first)(iterator);
	else if (move == MOVE_LAST)
		STORE(iter_seek_to_last)(iterator);
	else if (move == MOVE_KEY)
		STORE(iter_seek)(iterator, (const char *)key, KEY_SIZE);
	else
		STORE(iter_next)(iterator);
	if (!STORE(iter_valid)(iterator))
		return false;
	row->key = (const unsigned char *)STORE(iter_key)(iterator, &row->key_size);
	row->value = (const unsigned char *)STORE(iter_value)(iterator, &row->size);
	return true;
}

bool cursor_close(struct cursor *cursor, struct error *error)
{
	store_iterator *iterator = iterator_of(cursor);
	char *message = NULL;

	STORE(iter_get_error)(iterator, &message);
	STORE(iter_destroy)(iterator);
	rows_were_read();
	return !call_failed("reading rows", message, error);
}
