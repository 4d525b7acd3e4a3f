/* Transactions: what an operation is rendered to, and a write batch of a transaction's.
 *
 * LevelDB writes without reading: whether the key of an update or a delete is there it does not
 * know, so how many rows these change is unknown. */
#include <string.h>

#include "database.h"
#include "environment.h"

bool transaction_render(struct database *database, const struct transaction *transaction,
			struct rendered *rendered, struct error *error)
{
	unsigned char *end = database->buffer, rows[sizeof(uint64_t)];

	for (size_t i = 0; i < transaction->count; i++) {
		const struct operation *operation = &transaction->operations[i];
		bool is_scan = operation->kind == OPERATION_SCAN;
		size_t size = is_scan ? sizeof(rows) : operation->size;
		struct head head = {.kind = (unsigned char)operation->kind};

		if (operation->kind >= KEY_OPERATIONS)
			return error_set(error, "%s has no operation of kind %s", engine.title(),
					 operation_traits[operation->kind].word);
		if ((size_t)(end - database->buffer) + sizeof(head) + size > database->capacity)
			return error_set(error, "a transaction is longer than %zu bytes",
					 database->capacity);
		encode(head.key, (uint64_t)operation->key, sizeof(head.key));
		encode(head.size, size, sizeof(head.size));
		encode(rows, (uint64_t)operation->rows, sizeof(rows));
		memcpy(end, &head, sizeof(head));
		end += sizeof(head);
		if (size > 0)
			memcpy(end, is_scan ? (const char *)rows : operation->data, size);
		end += size;
	}
	database->size = (size_t)(end - database->buffer);
	*rendered = (struct rendered){database->buffer, database->size};
	return true;
}

/* Reads the value of a key, if it is there. */
static bool read_key(const struct database *database, const struct head *head,
		     struct outcome *outcome, struct error *error)
{
	char *message = NULL, *value;
	size_t size;

	value = leveldb_get(database->db, database->read, (const char *)head->key,
			    sizeof(head->key), &size, &message);
	if (call_failed("reading a key", message, error))
		return false;
	if (value != NULL) {
		outcome->rows++;
		outcome->bytes += (int64_t)size;
	}
	leveldb_free(value);
	return true;
}

/* Reads the values of `rows` keys from one on. */
static bool read_range(const struct database *database, const struct head *head, uint64_t rows,
		       struct outcome *outcome, struct error *error)
{
	leveldb_iterator_t *row = leveldb_create_iterator(database->db, database->read);
	char *message = NULL;

	leveldb_iter_seek(row, (const char *)head->key, sizeof(head->key));
	for (; rows > 0 && leveldb_iter_valid(row); rows--, leveldb_iter_next(row)) {
		size_t size;

		leveldb_iter_value(row, &size);
		outcome->rows++;
		outcome->bytes += (int64_t)size;
	}
	leveldb_iter_get_error(row, &message);
	leveldb_iter_destroy(row);
	return !call_failed("reading a range of keys", message, error);
}

/* Puts a write into the batch. */
static void write_key(struct database *database, const struct head *head,
		      const unsigned char *value, size_t size)
{
	const char *key = (const char *)head->key;

	database->writes = true;
	if (head->kind == OPERATION_DELETE)
		leveldb_writebatch_delete(database->batch, key, sizeof(head->key));
	else
		leveldb_writebatch_put(database->batch, key, sizeof(head->key), (const char *)value,
				       size);
}

static bool apply(struct database *database, const struct head *head, const unsigned char *value,
		  size_t size, struct outcome *outcome, struct error *error)
{
	if (head->kind == OPERATION_SCAN)
		return read_range(database, head, decode(value, size), outcome, error);
	if (operation_traits[head->kind].reads && !read_key(database, head, outcome, error))
		return false;
	if (!operation_traits[head->kind].mutates)
		return true;
	write_key(database, head, value, size);
	if (head->kind != OPERATION_INSERT)
		outcome->changes = CHANGES_UNKNOWN;
	else if (outcome->changes != CHANGES_UNKNOWN)
		outcome->changes++;
	return true;
}

bool transaction_commit(struct database *database, struct outcome *outcome, struct error *error)
{
	const unsigned char *next = database->buffer, *end = next + database->size;
	char *message = NULL;

	database->writes = false;
	leveldb_writebatch_clear(database->batch);
	while (next < end) {
		const struct head *head = (const struct head *)next;
		size_t size = decode(head->size, sizeof(head->size));

		next += sizeof(*head);
		if (!apply(database, head, next, size, outcome, error))
			return false;
		next += size;
	}
	/* A read may make a compaction due. */
	environment_drain();
	if (!database->writes)
		return true;
	leveldb_write(database->db, database->write, database->batch, &message);
	environment_drain();
	return !call_failed("writing a batch", message, error);
}
