/* Cursors of the virtual tables (xFilter, xNext, xColumn, …): return the rows of a key or of a
 * range of keys, from the query cache, the open transaction and LevelDB, and add them to that
 * cache. */
#include "values.h"

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	struct scan scan;
	bool valid;
	struct slice key, row;
	struct bytes value; /* of a whole key */
	struct bytes text;  /* of a column in the key */
	/* Rows of a cached query: read from the cache, or collected for it. */
	struct bytes rows;
	struct slice rest;
	bool cached, collects;
	uint64_t epoch; /* of the table, when it began to collect */
};

static struct kv_table *table_of(const struct cursor *cursor)
{
	return (struct kv_table *)cursor->base.pVtab;
}

int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **opened)
{
	struct cursor *cursor = sqlite3_malloc64(sizeof(*cursor));

	if (cursor == NULL)
		return SQLITE_NOMEM;
	*cursor = (struct cursor){0};
	*opened = &cursor->base;
	return SQLITE_OK;
}

int cursor_close(sqlite3_vtab_cursor *opened)
{
	struct cursor *cursor = (struct cursor *)opened;

	scan_close(&cursor->scan);
	bytes_free(&cursor->value);
	bytes_free(&cursor->text);
	bytes_free(&cursor->rows);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* Reads the row of a whole key. */
static int read_row(struct cursor *cursor)
{
	struct store *store = table_of(cursor)->store;
	struct cache *cache = store_cache(store);
	struct slice key = bytes_slice(&cursor->scan.start), row;
	bool looked_up = store->looked_up;
	int result;

	cursor->key = key;
	store->looked_up = false;
	if (cache != NULL && !looked_up && cache_find(cache, CACHE_ROW, key, &row)) {
		bytes_set(&cursor->value, row);
		cursor->valid = row.size > 0;
		cursor->row = bytes_slice(&cursor->value);
		return cursor->value.failed ? SQLITE_NOMEM : SQLITE_OK;
	}
	result =
		store_get(store, key, &cursor->value, &cursor->valid, &cursor->base.pVtab->zErrMsg);
	cursor->row = bytes_slice(&cursor->value);
	if (result == SQLITE_OK && cache != NULL)
		cache_add(cache, CACHE_ROW, key,
			  cursor->valid ? cursor->row : (struct slice){NULL, 0});
	return result;
}

/* The cache's key of a query by the first columns. */
static void prefix_key(struct cursor *cursor, struct bytes *key)
{
	bytes_set(key, bytes_slice(&cursor->scan.start));
	bytes_add_number(key, table_of(cursor)->shared->epoch, sizeof(uint64_t));
}

/* Takes the next row of a cached query. */
static int take_cached(struct cursor *cursor)
{
	uint64_t key, row;

	cursor->valid = cursor->rest.size > 0;
	if (cursor->valid && !(slice_take_varint(&cursor->rest, &key) &&
			       slice_take(&cursor->rest, (size_t)key, &cursor->key) &&
			       slice_take_varint(&cursor->rest, &row) &&
			       slice_take(&cursor->rest, (size_t)row, &cursor->row)))
		return SQLITE_CORRUPT_VTAB;
	return SQLITE_OK;
}

static bool find_cached(struct cursor *cursor)
{
	struct cache *cache = store_cache(table_of(cursor)->store);
	struct slice rows;

	if (cache == NULL)
		return false;
	prefix_key(cursor, &cursor->text);
	cursor->epoch = table_of(cursor)->shared->epoch;
	cursor->collects = !cursor->text.failed;
	if (cursor->text.failed ||
	    !cache_find(cache, CACHE_PREFIX, bytes_slice(&cursor->text), &rows))
		return false;
	bytes_set(&cursor->rows, rows);
	cursor->rest = bytes_slice(&cursor->rows);
	cursor->collects = false;
	return !cursor->rows.failed;
}

static void collect(struct cursor *cursor)
{
	bytes_add_varint(&cursor->rows, cursor->key.size);
	bytes_add(&cursor->rows, cursor->key.data, cursor->key.size);
	bytes_add_varint(&cursor->rows, cursor->row.size);
	bytes_add(&cursor->rows, cursor->row.data, cursor->row.size);
	if (cursor->rows.failed || cursor->rows.size > CACHE_SLAB)
		cursor->collects = false;
}

/* All rows were read: they are the query's result, unless the table has changed. */
static void keep(struct cursor *cursor)
{
	struct kv_table *table = table_of(cursor);
	struct cache *cache = store_cache(table->store);

	cursor->collects = false;
	if (cache == NULL || cursor->epoch != table->shared->epoch)
		return;
	prefix_key(cursor, &cursor->text);
	if (!cursor->text.failed)
		cache_add(cache, CACHE_PREFIX, bytes_slice(&cursor->text),
			  bytes_slice(&cursor->rows));
}

/* Takes the row that the scan is at. */
static int take(struct cursor *cursor, int result)
{
	cursor->valid = result == SQLITE_OK && cursor->scan.valid;
	cursor->key = bytes_slice(&cursor->scan.key);
	cursor->row = cursor->scan.value;
	if (result == SQLITE_OK && cursor->collects && cursor->valid)
		collect(cursor);
	else if (result == SQLITE_OK && cursor->collects)
		keep(cursor);
	return result;
}

int cursor_filter(sqlite3_vtab_cursor *opened, int plan, const char *text, int count,
		  sqlite3_value **values)
{
	struct cursor *cursor = (struct cursor *)opened;
	struct kv_table *table = table_of(cursor);
	bool exact, empty, prefix;
	int result;

	cursor->valid = cursor->cached = cursor->collects = false;
	bytes_clear(&cursor->rows);
	if (cursor->scan.base != NULL)
		leveldb_iter_destroy(cursor->scan.base);
	cursor->scan.base = NULL;
	result = plan_range(table, plan, values, &cursor->scan, &exact, &empty, &prefix);
	if (result != SQLITE_OK || empty)
		return result;
	if (cursor->scan.start.failed || cursor->scan.end.failed)
		return SQLITE_NOMEM;
	if (exact)
		return read_row(cursor);
	if (prefix && !plan_is_backward(plan) && find_cached(cursor)) {
		cursor->cached = true;
		return take_cached(cursor);
	}
	return take(cursor, scan_begin(&cursor->scan, table->store, plan_is_backward(plan),
				       &table->base.zErrMsg));
}

int cursor_next(sqlite3_vtab_cursor *opened)
{
	struct cursor *cursor = (struct cursor *)opened;

	if (cursor->cached)
		return take_cached(cursor);
	/* the row of a whole key is the only one */
	if (cursor->scan.base == NULL) {
		cursor->valid = false;
		return SQLITE_OK;
	}
	return take(cursor, scan_next(&cursor->scan, &cursor->base.pVtab->zErrMsg));
}

int cursor_eof(sqlite3_vtab_cursor *opened)
{
	return !((struct cursor *)opened)->valid;
}

static int damaged(struct cursor *cursor)
{
	struct kv_table *table = table_of(cursor);

	return kv_fail(&table->base.zErrMsg, SQLITE_CORRUPT_VTAB,
		       "%s: a row of table %s is damaged", table->store->path, table->name);
}

/* Reads a column from the key. */
static bool read_key(struct cursor *cursor, int column, struct field *field)
{
	const struct kv_schema *schema = &table_of(cursor)->schema;
	struct slice key = cursor->key;

	if (!key_take_table(&key))
		return false;
	for (int i = 0; i < schema->key_count; i++) {
		const struct kv_column *of =
			schema->has_rowid ? NULL : &schema->columns[schema->key[i]];

		if (!key_take(&key, of != NULL ? of->affinity : 'I',
			      of != NULL ? of->collation : BINARY, field, &cursor->text))
			return false;
		if (schema->key[i] == column)
			return true;
	}
	return false;
}

/* SQLite copies: the row is gone with the next call. */
static void answer(sqlite3_context *context, const struct field *field)
{
	const char *bytes = field->bytes.size > 0 ? (const char *)field->bytes.data : "";

	switch (field->type) {
	case SQLITE_INTEGER:
		sqlite3_result_int64(context, field->integer);
		break;
	case SQLITE_FLOAT:
		sqlite3_result_double(context, field->real);
		break;
	case SQLITE_TEXT:
		sqlite3_result_text(context, bytes, (int)field->bytes.size, SQLITE_TRANSIENT);
		break;
	case SQLITE_BLOB:
		sqlite3_result_blob(context, bytes, (int)field->bytes.size, SQLITE_TRANSIENT);
		break;
	default:
		sqlite3_result_null(context);
	}
}

int cursor_column(sqlite3_vtab_cursor *opened, sqlite3_context *context, int index)
{
	struct cursor *cursor = (struct cursor *)opened;
	const struct kv_schema *schema = &table_of(cursor)->schema;
	struct field field = {0};

	if (index == schema->count) {
		field = (struct field){.type = SQLITE_BLOB, .bytes = cursor->key};
	} else if (schema->columns[index].kept) {
		if (!row_read(cursor->row, schema, index, &field))
			return damaged(cursor);
	} else if (!read_key(cursor, index, &field)) {
		return damaged(cursor);
	}
	answer(context, &field);
	return SQLITE_OK;
}

int cursor_rowid(sqlite3_vtab_cursor *opened, sqlite3_int64 *number)
{
	struct cursor *cursor = (struct cursor *)opened;
	struct field field;

	if (!read_key(cursor, table_of(cursor)->schema.key[0], &field) ||
	    field.type != SQLITE_INTEGER)
		return damaged(cursor);
	*number = field.integer;
	return SQLITE_OK;
}
