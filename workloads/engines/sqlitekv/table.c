/* Creates, connects and drops virtual tables (xCreate, xConnect, xDestroy), and reads and stores
 * their schemas in the LevelDB database. */
#include "values.h"

#include <string.h>

/* The module's name is before these arguments; those of arguments.c are after them. */
enum { DATABASE_NAME = 1, TABLE_NAME = 2 };

/* Returns an id that no table has: the largest plus 1. */
static int new_id(struct store *store, uint32_t *id, char **message)
{
	struct scan scan = {0};
	int result;

	key_of_schema(&scan.start, "");
	key_of_schema(&scan.end, "\xff");
	result = scan_begin(&scan, store, false, message);
	for (*id = 1; result == SQLITE_OK && scan.valid; result = scan_next(&scan, message)) {
		uint64_t other;

		if (slice_take_varint(&scan.value, &other) && other >= *id)
			*id = (uint32_t)other + 1;
	}
	scan_close(&scan);
	return result;
}

/* Reads the stored schema; `is_new`: there is none, and it is the request's. */
static int open_schema(struct kv_table *table, struct request *request, bool create, uint32_t *id,
		       bool *is_new, char **message)
{
	struct store *store = table->store;
	struct slice rest;
	uint64_t stored;
	bool found;
	char *declaration;
	int result;

	key_of_schema(&table->key, table->name);
	if (table->key.failed)
		return SQLITE_NOMEM;
	result = store_get(store, bytes_slice(&table->key), &table->value, &found, message);
	if (result != SQLITE_OK)
		return result;
	if (!found && !create)
		return kv_fail(message, SQLITE_NOTFOUND, "%s has no table %s", store->path,
			       table->name);
	if (!found) {
		*is_new = true;
		table->schema = request->schema;
		request->schema = (struct kv_schema){0};
		return new_id(store, id, message);
	}
	rest = bytes_slice(&table->value);
	if (!slice_take_varint(&rest, &stored) || stored == 0 || stored > UINT32_MAX)
		return kv_fail(message, SQLITE_CORRUPT_VTAB,
			       "%s: the schema of table %s is damaged", store->path, table->name);
	*id = (uint32_t)stored;
	declaration = sqlite3_mprintf("%.*s", (int)rest.size, (const char *)rest.data);
	result = declaration == NULL ? SQLITE_NOMEM
				     : schema_parse(declaration, &table->schema, message);
	if (result == SQLITE_OK && request->declaration != NULL &&
	    !schema_equal(&request->schema, &table->schema))
		result = kv_fail(message, SQLITE_ERROR, "table %s of %s is declared as (%s)",
				 table->name, store->path, declaration);
	sqlite3_free(declaration);
	return result;
}

/* The last step of a CREATE: what fails before it has stored nothing. */
static int store_schema(struct kv_table *table, const char *declaration, char **message)
{
	int result = savepoints_join(table->store, message);

	key_of_schema(&table->key, table->name);
	bytes_clear(&table->value);
	bytes_add_varint(&table->value, table->shared->id);
	bytes_add(&table->value, declaration, strlen(declaration));
	if (result == SQLITE_OK && (table->key.failed || table->value.failed))
		result = SQLITE_NOMEM;
	return result == SQLITE_OK ? store_put(table->store, bytes_slice(&table->key),
					       bytes_slice(&table->value))
				   : result;
}

/* Finds the table among those that the connection has open, or adds it. */
static int share(struct kv_table *table, uint32_t id)
{
	struct store *store = table->store;
	struct shared_table *shared = store->tables;

	while (shared != NULL && sqlite3_stricmp(shared->name, table->name) != 0)
		shared = shared->next;
	if (shared == NULL) {
		shared = sqlite3_malloc64(sizeof(*shared));
		if (shared == NULL)
			return SQLITE_NOMEM;
		*shared = (struct shared_table){.next = store->tables,
						.name = sqlite3_mprintf("%s", table->name)};
		store_next_epoch(store, shared);
		if (shared->name == NULL) {
			sqlite3_free(shared);
			return SQLITE_NOMEM;
		}
		store->tables = shared;
	}
	shared->id = id;
	shared->references++;
	table->shared = shared;
	return SQLITE_OK;
}

static void unshare(struct kv_table *table)
{
	struct shared_table **link = &table->store->tables;

	if (table->shared == NULL || --table->shared->references > 0)
		return;
	while (*link != table->shared)
		link = &(*link)->next;
	*link = table->shared->next;
	sqlite3_free(table->shared->name);
	sqlite3_free(table->shared);
}

/* A name is that of a table of main only: one of another database may be hidden by main's. */
static void add(struct kv_table *table, const char *database)
{
	if (sqlite3_stricmp(database, "main") != 0)
		return;
	table->next = table->module->tables;
	table->module->tables = table;
}

static void remove_from_module(struct kv_table *table)
{
	struct kv_table **link = &table->module->tables;

	while (*link != NULL && *link != table)
		link = &(*link)->next;
	if (*link != NULL)
		*link = table->next;
}

static void drop(struct kv_table *table)
{
	remove_from_module(table);
	if (table->store != NULL) {
		unshare(table);
		store_close(table->store);
	}
	sqlite3_free(table->gone);
	schema_free(&table->schema);
	bytes_free(&table->key);
	bytes_free(&table->other);
	bytes_free(&table->value);
	sqlite3_free(table->fields);
	sqlite3_free(table->name);
	sqlite3_free(table);
}

static int declare(sqlite3 *db, const struct kv_table *table, char **message)
{
	char *sql = schema_declare(&table->schema);
	int result = sql == NULL ? SQLITE_NOMEM : sqlite3_declare_vtab(db, sql);

	sqlite3_free(sql);
	if (result == SQLITE_ERROR)
		return kv_fail(message, result, "%s", sqlite3_errmsg(db));
	return result == SQLITE_OK ? sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1)
				   : result;
}

/* Keys of texts are in UTF-8; in a database in UTF-16 SQLite has another order. */
static int check_encoding(sqlite3 *db, char **message)
{
	sqlite3_stmt *statement;
	int result = sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &statement, NULL), ended;

	if (result != SQLITE_OK)
		return result;
	if (sqlite3_step(statement) == SQLITE_ROW &&
	    sqlite3_stricmp((const char *)sqlite3_column_text(statement, 0), "UTF-8") != 0)
		result = kv_fail(message, SQLITE_ERROR,
				 "this database has texts in %s; only UTF-8 is supported",
				 sqlite3_column_text(statement, 0));
	/* the error of a step */
	ended = sqlite3_finalize(statement);
	return result != SQLITE_OK ? result : ended;
}

static int open_table(struct kv_table *table, struct request *request, bool create, bool *is_new,
		      char **message)
{
	bool declared = request->declaration != NULL;
	uint32_t id = 0;
	int result = store_open(table->module, request->path, &request->store, create && declared,
				&table->store, message);

	table->blind = request->blind;
	if (result == SQLITE_OK)
		result = open_schema(table, request, create && declared, &id, is_new, message);
	if (result == SQLITE_NOTFOUND && create && !declared)
		return kv_fail(message, SQLITE_ERROR, "%s has no table %s; declare its columns",
			       request->path, table->name);
	/* opened all the same, so that it can be dropped; a query of it is refused */
	if (!create && (result == SQLITE_NOTFOUND || result == SQLITE_NOTADB)) {
		table->gone = *message;
		*message = NULL;
		return schema_parse(declared ? request->declaration : "gone", &table->schema,
				    message);
	}
	if (result == SQLITE_OK)
		result = share(table, id);
	if (result != SQLITE_OK)
		return result;
	table->fields =
		sqlite3_malloc64((size_t)(table->schema.count + 1) * sizeof(*table->fields));
	return table->fields != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int make(sqlite3 *db, struct module *module, int count, const char *const *arguments,
		bool create, sqlite3_vtab **vtab, char **message)
{
	struct request request = {0};
	struct kv_table *table = sqlite3_malloc64(sizeof(*table));
	bool is_new = false;
	int result;

	if (table == NULL)
		return SQLITE_NOMEM;
	*table = (struct kv_table){.module = module,
				   .name = sqlite3_mprintf("%s", arguments[TABLE_NAME])};
	result = table->name == NULL ? SQLITE_NOMEM : check_encoding(db, message);
	if (result == SQLITE_OK)
		result = request_read(count, arguments, &request, message);
	if (result == SQLITE_OK)
		result = open_table(table, &request, create, &is_new, message);
	if (result == SQLITE_OK)
		result = declare(db, table, message);
	if (result == SQLITE_OK && is_new)
		result = store_schema(table, request.declaration, message);
	request_free(&request);
	if (result != SQLITE_OK) {
		drop(table);
		return result;
	}
	if (table->gone == NULL)
		add(table, arguments[DATABASE_NAME]);
	*vtab = &table->base;
	return SQLITE_OK;
}

int table_create(sqlite3 *db, void *module, int count, const char *const *arguments,
		 sqlite3_vtab **vtab, char **message)
{
	return make(db, module, count, arguments, true, vtab, message);
}

int table_connect(sqlite3 *db, void *module, int count, const char *const *arguments,
		  sqlite3_vtab **vtab, char **message)
{
	return make(db, module, count, arguments, false, vtab, message);
}

int table_disconnect(sqlite3_vtab *vtab)
{
	drop((struct kv_table *)vtab);
	return SQLITE_OK;
}

/* DROP TABLE. SQLite reports no commit or rollback to a table that is gone, so that it is deleted
 * at once: the schema last, as it would leave rows without one. In a transaction it could be rolled
 * back; and another name of it would have rows of a later table with the same id. SQLite has no
 * message for that, only the code. */
int table_destroy(sqlite3_vtab *vtab)
{
	struct kv_table *table = (struct kv_table *)vtab;
	char *ignored = NULL;
	int result;

	if (!sqlite3_get_autocommit(table->module->db))
		return SQLITE_LOCKED;
	if (table->gone != NULL) {
		drop(table);
		return SQLITE_OK;
	}
	if (table->shared->references > 1)
		return SQLITE_LOCKED;
	key_begin(&table->key, table->shared->id);
	result = store_delete_prefix(table->store, bytes_slice(&table->key), &ignored);
	key_of_sequence(&table->key, table->shared->id);
	if (result == SQLITE_OK)
		result = store_delete(table->store, bytes_slice(&table->key));
	key_of_schema(&table->key, table->name);
	if (result == SQLITE_OK)
		result = store_delete(table->store, bytes_slice(&table->key));
	if (result == SQLITE_OK)
		result = store_commit(table->store, &ignored);
	sqlite3_free(ignored);
	/* a new table may have the same id */
	if (table->store->cache != NULL)
		cache_clear(table->store->cache);
	if (result == SQLITE_OK)
		drop(table);
	return result;
}
