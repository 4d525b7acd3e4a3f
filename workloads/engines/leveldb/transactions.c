/* Transactions: what an operation is rendered to, and a write batch of a transaction's.
 *
 * An update or a delete of a key that is not there changes nothing, as in SQL; LevelDB does not
 * know, so the key is read first. */
#include "transactions.h"

#include <string.h>

bool engine_render(struct database *database, const struct transaction *transaction,
		   struct rendered *rendered, struct error *error)
{
	unsigned char *end = database->buffer;

	for (size_t i = 0; i < transaction->count; i++) {
		const struct operation *operation = &transaction->operations[i];
		struct head head = {.kind = (unsigned char)operation->kind};

		if ((size_t)(end - database->buffer) + sizeof(head) + operation->size >
		    database->capacity)
			return error_set(error, "a transaction is longer than %zu bytes",
					 database->capacity);
		encode(head.key, (uint64_t)operation->key, sizeof(head.key));
		encode(head.size, operation->size, sizeof(head.size));
		memcpy(end, &head, sizeof(head));
		end += sizeof(head);
		if (operation->size > 0)
			memcpy(end, operation->data, operation->size);
		end += operation->size;
	}
	database->size = (size_t)(end - database->buffer);
	*rendered = (struct rendered){database->buffer, database->size};
	return true;
}

/* Reads a key; `found` gets whether it is there. */
static bool look_up(const struct database *database, const struct head *head, bool *found,
		    struct error *error)
{
	char *said = NULL, *value;
	size_t size;

	value = leveldb_get(database->db, database->read, (const char *)head->key,
			    sizeof(head->key), &size, &said);
	if (call_failed("reading a key", said, error))
		return false;
	*found = value != NULL;
	leveldb_free(value);
	return true;
}

/* Puts an operation into the batch, if it changes anything. */
static bool apply(struct database *database, const struct head *head, const unsigned char *value,
		  size_t size, int32_t *changes, struct error *error)
{
	bool found;

	if (head->kind != OPERATION_INSERT) {
		if (!look_up(database, head, &found, error))
			return false;
		if (head->kind == OPERATION_READ || !found)
			return true;
	}
	if (head->kind == OPERATION_DELETE)
		leveldb_writebatch_delete(database->batch, (const char *)head->key,
					  sizeof(head->key));
	else
		leveldb_writebatch_put(database->batch, (const char *)head->key, sizeof(head->key),
				       (const char *)value, size);
	++*changes;
	return true;
}

bool engine_commit(struct database *database, int32_t *changes, struct error *error)
{
	const unsigned char *next = database->buffer, *end = next + database->size;
	char *said = NULL;

	*changes = 0;
	leveldb_writebatch_clear(database->batch);
	while (next < end) {
		const struct head *head = (const struct head *)next;
		size_t size = decode(head->size, sizeof(head->size));

		next += sizeof(*head);
		if (!apply(database, head, next, size, changes, error))
			return false;
		next += size;
	}
	if (*changes == 0)
		return true;
	leveldb_write(database->db, database->write, database->batch, &said);
	return !call_failed("writing a batch", said, error);
}
