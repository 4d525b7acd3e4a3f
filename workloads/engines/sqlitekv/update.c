/* INSERT, UPDATE and DELETE of a row (xUpdate): chooses its rowid, checks NOT NULL and UNIQUE, and
 * writes its key and value to the transaction. */
#include "values.h"

static int constraint(struct kv_table *table, int code, const char *kind, const char *columns)
{
	sqlite3_free(table->base.zErrMsg);
	table->base.zErrMsg = sqlite3_mprintf("%s constraint failed: %s", kind, columns);
	return table->base.zErrMsg != NULL ? code : SQLITE_NOMEM;
}

/* As SQLite reports it, with all columns of the key. */
static int not_unique(struct kv_table *table)
{
	const struct kv_schema *schema = &table->schema;
	sqlite3_str *text = sqlite3_str_new(NULL);
	char *columns;
	int result;

	for (int i = 0; i < schema->key_count; i++)
		sqlite3_str_appendf(text, "%s%s.%s", i > 0 ? ", " : "", table->name,
				    schema->key[i] >= 0 ? schema->columns[schema->key[i]].name
							: "rowid");
	columns = sqlite3_str_finish(text);
	if (columns == NULL)
		return SQLITE_NOMEM;
	result = constraint(
		table, schema->key[0] >= 0 ? SQLITE_CONSTRAINT_PRIMARYKEY : SQLITE_CONSTRAINT_ROWID,
		"UNIQUE", columns);
	sqlite3_free(columns);
	return result;
}

static int check_not_null(struct kv_table *table)
{
	for (int i = 0; i < table->schema.count; i++) {
		const struct kv_column *column = &table->schema.columns[i];
		char *name;
		int result;

		if (!column->not_null || table->fields[i].type != SQLITE_NULL)
			continue;
		name = sqlite3_mprintf("%s.%s", table->name, column->name);
		result = name == NULL
				 ? SQLITE_NOMEM
				 : constraint(table, SQLITE_CONSTRAINT_NOTNULL, "NOT NULL", name);
		sqlite3_free(name);
		return result;
	}
	return SQLITE_OK;
}

static int damaged(struct kv_table *table)
{
	return kv_fail(&table->base.zErrMsg, SQLITE_CORRUPT_VTAB,
		       "%s: a key of table %s is damaged", table->store->path, table->name);
}

static void add_rowid(struct kv_table *table, struct bytes *key, int64_t rowid)
{
	struct field field = {.type = SQLITE_INTEGER, .integer = rowid};

	key_begin(key, table->shared->id);
	key_add(key, &field, BINARY);
}

/* Reads the largest rowid that is there, 0 if there is none. */
static int read_last(struct kv_table *table, int64_t *last)
{
	struct scan scan = {0};
	struct field field;
	char **message = &table->base.zErrMsg;
	int result;

	*last = 0;
	key_begin(&scan.start, table->shared->id);
	key_begin(&scan.end, table->shared->id);
	key_add_end(&scan.end);
	result = scan_begin(&scan, table->store, true, message);
	if (result == SQLITE_OK && scan.valid) {
		struct slice key = bytes_slice(&scan.key);

		if (key_take_table(&key) && key_take(&key, 'I', BINARY, &field, &table->other) &&
		    field.type == SQLITE_INTEGER)
			*last = field.integer;
		else
			result = damaged(table);
	}
	scan_close(&scan);
	return result;
}

/* Reads the largest rowid that an AUTOINCREMENT table had and has no more; 0: none. */
static int read_sequence(struct kv_table *table, int64_t *sequence)
{
	struct slice value;
	uint64_t number = 0;
	bool found;
	int result;

	key_of_sequence(&table->other, table->shared->id);
	if (table->other.failed)
		return SQLITE_NOMEM;
	result = store_get(table->store, bytes_slice(&table->other), &table->value, &found,
			   &table->base.zErrMsg);
	value = bytes_slice(&table->value);
	if (result == SQLITE_OK && found && !slice_take_number(&value, sizeof(number), &number))
		return damaged(table);
	*sequence = (int64_t)number;
	return result;
}

/* A deleted row of an AUTOINCREMENT table may have had the largest rowid. */
static int keep_sequence(struct kv_table *table, int64_t rowid)
{
	int64_t sequence;
	int result = read_sequence(table, &sequence);

	if (result != SQLITE_OK || rowid <= sequence)
		return result;
	bytes_clear(&table->value);
	bytes_add_number(&table->value, (uint64_t)rowid, sizeof(rowid));
	key_of_sequence(&table->other, table->shared->id);
	if (table->value.failed || table->other.failed)
		return SQLITE_NOMEM;
	return store_put(table->store, bytes_slice(&table->other), bytes_slice(&table->value));
}

static int next_rowid(struct kv_table *table, int64_t *rowid)
{
	struct shared_table *shared = table->shared;
	int64_t sequence = 0;
	int result = SQLITE_OK;

	if (!shared->last_is_valid) {
		result = read_last(table, &shared->last);
		if (result == SQLITE_OK && table->schema.autoincrement)
			result = read_sequence(table, &sequence);
		if (result != SQLITE_OK)
			return result;
		if (table->schema.autoincrement && sequence > shared->last)
			shared->last = sequence;
		shared->last_is_valid = true;
	}
	/* SQLite then tries random ones, but for AUTOINCREMENT */
	if (shared->last == INT64_MAX)
		return SQLITE_FULL;
	*rowid = shared->last + 1;
	return SQLITE_OK;
}

/* With a message: else SQLite has that of an earlier row, which OR IGNORE left out. */
static int mismatch(struct kv_table *table)
{
	sqlite3_free(table->base.zErrMsg);
	table->base.zErrMsg = sqlite3_mprintf("datatype mismatch");
	return SQLITE_MISMATCH;
}

/* Sets the rowid of a new or changed row: `asked` is SQLite's, NULL if there is none. */
static int choose_rowid(struct kv_table *table, bool inserts, int64_t old, sqlite3_value *asked,
			int64_t *rowid)
{
	int alias = table->schema.key[0];
	struct field field = {.type = SQLITE_NULL};
	int result;

	if (alias >= 0) {
		field = table->fields[alias];
		if (field.type == SQLITE_NULL && !inserts)
			return mismatch(table);
	}
	if (field.type == SQLITE_NULL ||
	    (!inserts && field.type == SQLITE_INTEGER && field.integer == old)) {
		result = field_load(&field, asked, 'I');
		if (result != SQLITE_OK)
			return result;
	}
	if (field.type == SQLITE_NULL)
		return next_rowid(table, rowid);
	*rowid = field.integer;
	return field.type == SQLITE_INTEGER ? SQLITE_OK : mismatch(table);
}

static int load_fields(struct kv_table *table, sqlite3_value **values)
{
	int result = SQLITE_OK;

	for (int i = 0; result == SQLITE_OK && i < table->schema.count; i++)
		result =
			field_load(&table->fields[i], values[i], table->schema.columns[i].affinity);
	return result;
}

/* A row is gone from its key. */
static int forget(struct kv_table *table, struct slice key, int64_t rowid)
{
	struct shared_table *shared = table->shared;
	int result = SQLITE_OK;

	if (table->schema.has_rowid && shared->last_is_valid && rowid == shared->last &&
	    !table->schema.autoincrement)
		shared->last_is_valid = false;
	if (table->schema.autoincrement)
		result = keep_sequence(table, rowid);
	if (result != SQLITE_OK)
		return result;
	return table->blind ? store_put(table->store, key, (struct slice){NULL, 0})
			    : store_delete(table->store, key);
}

/* Sets the key of the row that is changed, as SQLite names it. */
static int old_key(struct kv_table *table, sqlite3_value *value, struct bytes *key, int64_t *rowid)
{
	if (table->schema.has_rowid) {
		*rowid = sqlite3_value_int64(value);
		add_rowid(table, key, *rowid);
	} else {
		const void *blob = sqlite3_value_blob(value);

		bytes_set(key,
			  (struct slice){blob,
					 blob != NULL ? (size_t)sqlite3_value_bytes(value) : 0});
	}
	return key->failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int check_key(struct kv_table *table, bool inserts, const struct bytes *old)
{
	struct slice key = bytes_slice(&table->key);
	bool found;
	int result;

	if (table->key.failed)
		return SQLITE_NOMEM;
	if (key.size > MAX_KEY)
		return kv_fail(&table->base.zErrMsg, SQLITE_TOOBIG,
			       "a key of table %s has %llu bytes; at most %d are possible",
			       table->name, (unsigned long long)key.size, MAX_KEY);
	if (inserts ? table->blind : slice_compare(key, bytes_slice(old)) == 0)
		return SQLITE_OK;
	result = store_get(table->store, key, &table->value, &found, &table->base.zErrMsg);
	if (result != SQLITE_OK || !found ||
	    sqlite3_vtab_on_conflict(table->module->db) == SQLITE_REPLACE)
		return result;
	return not_unique(table);
}

static int write_row(struct kv_table *table, const struct bytes *old, int64_t old_rowid,
		     bool inserts)
{
	struct slice key = bytes_slice(&table->key);
	int result = SQLITE_OK;

	if (!inserts && slice_compare(key, bytes_slice(old)) != 0)
		result = forget(table, bytes_slice(old), old_rowid);
	row_write(&table->value, &table->schema, table->fields);
	if (result != SQLITE_OK || table->value.failed)
		return result != SQLITE_OK ? result : SQLITE_NOMEM;
	return store_put(table->store, key, bytes_slice(&table->value));
}

static int change(struct kv_table *table, sqlite3_value **values, struct bytes *old,
		  sqlite3_int64 *made)
{
	const struct kv_schema *schema = &table->schema;
	bool inserts = sqlite3_value_type(values[0]) == SQLITE_NULL;
	int64_t rowid = 0, old_rowid = 0;
	int result = inserts ? SQLITE_OK : old_key(table, values[0], old, &old_rowid);

	if (result == SQLITE_OK)
		result = load_fields(table, values + 2);
	if (result == SQLITE_OK && schema->has_rowid) {
		result = choose_rowid(table, inserts, old_rowid, values[1], &rowid);
		/* it is not in the value */
		if (result == SQLITE_OK && schema->key[0] >= 0)
			table->fields[schema->key[0]] =
				(struct field){.type = SQLITE_INTEGER, .integer = rowid};
	}
	if (result == SQLITE_OK)
		result = check_not_null(table);
	if (result != SQLITE_OK)
		return result;
	if (schema->has_rowid) {
		add_rowid(table, &table->key, rowid);
	} else {
		key_begin(&table->key, table->shared->id);
		for (int i = 0; i < schema->key_count; i++)
			key_add(&table->key, &table->fields[schema->key[i]],
				schema->columns[schema->key[i]].collation);
	}
	result = check_key(table, inserts, old);
	if (result == SQLITE_OK)
		result = write_row(table, old, old_rowid, inserts);
	if (result != SQLITE_OK || !schema->has_rowid)
		return result;
	if (table->shared->last_is_valid && rowid > table->shared->last)
		table->shared->last = rowid;
	*made = rowid;
	return SQLITE_OK;
}

int table_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *rowid)
{
	struct kv_table *table = (struct kv_table *)vtab;
	struct bytes old = {0};
	int64_t old_rowid = 0;
	int result;

	if (count > 1) {
		result = change(table, values, &old, rowid);
	} else {
		result = old_key(table, values[0], &old, &old_rowid);
		if (result == SQLITE_OK)
			result = forget(table, bytes_slice(&old), old_rowid);
	}
	bytes_free(&old);
	if (result == SQLITE_OK)
		store_next_epoch(table->store, table->shared);
	return result;
}
