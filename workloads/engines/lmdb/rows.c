/* Reads, writes, deletes and scans keys in LMDB transactions: the functions that key_values.h
 * requires of an engine, and its commit. */
#include <stdlib.h>

#include "database.h"

/* The least that the system maps. */
enum { MAPPED_BYTES = 4096 };

/* A cursor, and the transaction that was begun for it; NULL: it is in that of a commit. */
struct cursor {
	MDB_cursor *cursor;
	MDB_txn *transaction;
	int result;
};

static MDB_val key_of(const unsigned char *key)
{
	return (MDB_val){KEY_SIZE, (void *)(uintptr_t)key};
}

/* LMDB returns a place in its map: each page of it is read. */
static size_t read_value(const MDB_val *value)
{
	const volatile unsigned char *bytes = value->mv_data;

	for (size_t i = 0; i < value->mv_size; i += MAPPED_BYTES)
		(void)bytes[i];
	if (value->mv_size > 0)
		(void)bytes[value->mv_size - 1];
	return value->mv_size;
}

bool transaction_begin(struct database *database, bool writes, struct error *error)
{
	return call_succeeded("beginning a transaction",
			      mdb_txn_begin(database->environment, NULL, writes ? 0 : MDB_RDONLY,
					    &database->transaction),
			      error);
}

bool transaction_end(struct database *database, bool succeeded, struct error *error)
{
	MDB_txn *transaction = database->transaction;

	database->transaction = NULL;
	if (succeeded)
		return call_succeeded("committing", mdb_txn_commit(transaction), error);
	mdb_txn_abort(transaction);
	return false;
}

bool rows_commit(struct database *database, struct outcome *outcome, struct error *error)
{
	return transaction_begin(database, database->key_values.writes, error) &&
	       transaction_end(database, key_values_apply(database, outcome, error), error);
}

bool rows_write(struct database *database, struct error *error)
{
	return transaction_end(database, true, error) && transaction_begin(database, true, error);
}

bool key_read(struct database *database, const unsigned char *key, struct outcome *outcome,
	      struct error *error)
{
	MDB_val name = key_of(key), value;
	int result = mdb_get(database->transaction, database->rows, &name, &value);

	if (result == MDB_NOTFOUND)
		return true;
	if (!call_succeeded("reading a key", result, error))
		return false;
	outcome->rows++;
	outcome->bytes += (int64_t)read_value(&value);
	return true;
}

bool key_put(struct database *database, const unsigned char *key, const unsigned char *value,
	     size_t size, struct error *error)
{
	MDB_val name = key_of(key), data = {size, (void *)(uintptr_t)value};

	return call_succeeded("writing a key",
			      mdb_put(database->transaction, database->rows, &name, &data, 0),
			      error);
}

bool key_delete(struct database *database, const unsigned char *key, struct error *error)
{
	MDB_val name = key_of(key);
	int result = mdb_del(database->transaction, database->rows, &name, NULL);

	return result == MDB_NOTFOUND || call_succeeded("deleting a key", result, error);
}

struct cursor *cursor_open(struct database *database, struct error *error)
{
	MDB_txn *transaction = database->transaction;
	struct cursor *cursor = calloc(1, sizeof(*cursor));

	if (cursor == NULL) {
		error_set(error, "no memory for a cursor");
		return NULL;
	}
	if (transaction == NULL) {
		cursor->result = mdb_txn_begin(database->environment, NULL, MDB_RDONLY,
					       &cursor->transaction);
		transaction = cursor->transaction;
	}
	if (cursor->result == MDB_SUCCESS)
		cursor->result = mdb_cursor_open(transaction, database->rows, &cursor->cursor);
	if (cursor->result == MDB_SUCCESS)
		return cursor;
	cursor_close(cursor, error);
	return NULL;
}

bool cursor_move(struct cursor *cursor, enum move move, const unsigned char *key, struct row *row)
{
	static const MDB_cursor_op operations[] = {[MOVE_FIRST] = MDB_FIRST,
						   [MOVE_LAST] = MDB_LAST,
						   [MOVE_KEY] = MDB_SET_RANGE,
						   [MOVE_NEXT] = MDB_NEXT};
	MDB_val name = key_of(key), value;

	cursor->result = mdb_cursor_get(cursor->cursor, &name, &value, operations[move]);
	if (cursor->result != MDB_SUCCESS)
		return false;
	*row = (struct row){name.mv_data, value.mv_data, name.mv_size, read_value(&value)};
	return true;
}

bool cursor_close(struct cursor *cursor, struct error *error)
{
	int result = cursor->result == MDB_NOTFOUND ? MDB_SUCCESS : cursor->result;

	if (cursor->cursor != NULL)
		mdb_cursor_close(cursor->cursor);
	if (cursor->transaction != NULL)
		mdb_txn_abort(cursor->transaction);
	free(cursor);
	return call_succeeded("reading rows", result, error);
}
