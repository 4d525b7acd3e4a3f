/* Parses a virtual table's declaration (columns, types, collations, key) by SQLite's own parser, in
 * a database in memory, and rejects what is not supported; compares schemas, and returns the text
 * that declares one to SQLite. */
#include "kv.h"

#include <string.h>

const char *const collation_names[] = {"BINARY", "NOCASE", "RTRIM"};

/* datatype3.html, 3.1: the first of these that the type has. */
static const struct {
	const char *part;
	char affinity;
} affinities[] = {
	{"INT", 'I'},  {"CHAR", 'T'}, {"CLOB", 'T'}, {"TEXT", 'T'},
	{"BLOB", 'B'}, {"REAL", 'R'}, {"FLOA", 'R'}, {"DOUB", 'R'},
};

static char affinity_of(const char *type)
{
	if (type[0] == '\0')
		return 'B';
	for (size_t i = 0; i < sizeof(affinities) / sizeof(affinities[0]); i++)
		for (const char *place = type; *place != '\0'; place++)
			if (sqlite3_strnicmp(place, affinities[i].part,
					     (int)strlen(affinities[i].part)) == 0)
				return affinities[i].affinity;
	return 'N';
}

static int failed(sqlite3 *db, char **message)
{
	return sqlite3_errcode(db) == SQLITE_NOMEM
		       ? SQLITE_NOMEM
		       : kv_fail(message, SQLITE_ERROR, "%s", sqlite3_errmsg(db));
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement, char **message)
{
	return sqlite3_prepare_v2(db, sql, -1, statement, NULL) == SQLITE_OK ? SQLITE_OK
									     : failed(db, message);
}

/* Finalizes a statement. Without memory, a step has no further row: its rows are then not all. */
static int finish(sqlite3_stmt *statement, int result)
{
	int ended = sqlite3_finalize(statement);

	return result != SQLITE_OK ? result : ended;
}

static int refuse(const char *what, char **message)
{
	return kv_fail(message, SQLITE_ERROR, "%s is not supported", what);
}

/* SQLite leaves these to the module, which has no part for them. */
static int refuse_constraints(sqlite3 *db, char **message)
{
	static const struct {
		const char *sql, *what;
	} queries[] = {
		{"SELECT 1 FROM pragma_index_list('t') WHERE origin='u'", "UNIQUE"},
		{"SELECT 1 FROM pragma_foreign_key_list('t')", "REFERENCES"},
		{"SELECT 1 FROM pragma_table_xinfo('t') WHERE dflt_value IS NOT NULL", "DEFAULT"},
		{"SELECT 1 FROM pragma_table_xinfo('t') WHERE hidden>1", "a generated column"},
	};
	sqlite3_stmt *statement;
	int result = SQLITE_OK;

	for (size_t i = 0; result == SQLITE_OK && i < sizeof(queries) / sizeof(queries[0]); i++) {
		result = prepare(db, queries[i].sql, &statement, message);
		if (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
			result = refuse(queries[i].what, message);
		result = finish(statement, result);
	}
	if (result != SQLITE_OK)
		return result;
	/* A check is seen in the program of an INSERT only. */
	result = prepare(db, "EXPLAIN INSERT INTO t DEFAULT VALUES", &statement, message);
	while (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		if (sqlite3_stricmp((const char *)sqlite3_column_text(statement, 1), "Halt") == 0 &&
		    sqlite3_column_int(statement, 2) == SQLITE_CONSTRAINT_CHECK)
			result = refuse("CHECK", message);
	return finish(statement, result);
}

static int read_collation(const char *name, enum collation *collation, char **message)
{
	for (int i = BINARY; i <= RTRIM; i++)
		if (sqlite3_stricmp(name, collation_names[i]) == 0) {
			*collation = (enum collation)i;
			return SQLITE_OK;
		}
	return kv_fail(message, SQLITE_ERROR,
		       "COLLATE %s is not supported; BINARY, NOCASE and RTRIM are", name);
}

static int read_column(sqlite3 *db, sqlite3_stmt *row, struct kv_schema *schema, char **message)
{
	struct kv_column *columns =
		sqlite3_realloc64(schema->columns, (size_t)(schema->count + 1) * sizeof(*columns));
	struct kv_column *column;
	const char *name = (const char *)sqlite3_column_text(row, 1), *collation = NULL;
	const char *type = (const char *)sqlite3_column_text(row, 2);
	int autoincrement = 0, result;

	if (columns == NULL)
		return SQLITE_NOMEM;
	schema->columns = columns;
	column = &columns[schema->count++];
	*column = (struct kv_column){.name = sqlite3_mprintf("%s", name),
				     .type = sqlite3_mprintf("%s", type),
				     .not_null = sqlite3_column_int(row, 3) != 0,
				     .kept = true};
	if (name == NULL || type == NULL || column->name == NULL || column->type == NULL)
		return SQLITE_NOMEM;
	column->affinity = affinity_of(column->type);
	result = sqlite3_table_column_metadata(db, NULL, "t", name, NULL, &collation, NULL, NULL,
					       &autoincrement);
	if (result != SQLITE_OK)
		return result;
	schema->autoincrement = schema->autoincrement || autoincrement != 0;
	return read_collation(collation, &column->collation, message);
}

static int read_columns(sqlite3 *db, struct kv_schema *schema, char **message)
{
	sqlite3_stmt *statement;
	int result = prepare(db, "PRAGMA table_info(t)", &statement, message);

	while (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		result = read_column(db, statement, schema, message);
	return finish(statement, result);
}

/* The key has a column's value exactly, but for a type that SQLite compares as equal, or a text
 * that a collation does. */
static void add_key(struct kv_schema *schema, int index)
{
	schema->key[schema->key_count++] = index;
	if (index >= 0) {
		struct kv_column *column = &schema->columns[index];

		column->kept = column->affinity == 'B' || column->collation != BINARY;
	}
}

/* Without an index of its own, a primary key is the rowid. */
static int read_key(sqlite3 *db, struct kv_schema *schema, char **message)
{
	sqlite3_stmt *statement;
	int result;

	schema->key = sqlite3_malloc64((size_t)(schema->count + 1) * sizeof(*schema->key));
	if (schema->key == NULL)
		return SQLITE_NOMEM;
	result = prepare(db,
			 "SELECT x.cid, x.coll FROM pragma_index_list('t') AS i, "
			 "pragma_index_xinfo(i.name) AS x WHERE i.origin='pk' AND x.key "
			 "ORDER BY x.seqno",
			 &statement, message);
	while (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
		int index = sqlite3_column_int(statement, 0);
		enum collation collation = BINARY;

		result = read_collation((const char *)sqlite3_column_text(statement, 1), &collation,
					message);
		if (result == SQLITE_OK && collation != schema->columns[index].collation)
			result = refuse("COLLATE in PRIMARY KEY that is not the column's", message);
		schema->columns[index].not_null = true;
		add_key(schema, index);
	}
	result = finish(statement, result);
	schema->has_rowid = schema->key_count == 0;
	if (result != SQLITE_OK || !schema->has_rowid)
		return result;
	result =
		prepare(db, "SELECT cid FROM pragma_table_info('t') WHERE pk", &statement, message);
	if (result == SQLITE_OK)
		add_key(schema, sqlite3_step(statement) == SQLITE_ROW
					? sqlite3_column_int(statement, 0)
					: -1);
	return finish(statement, result);
}

static int create(sqlite3 *db, const char *declaration, char **message)
{
	char *sql = sqlite3_mprintf("CREATE TABLE t(%s)", declaration);
	sqlite3_stmt *statement = NULL;
	int result = sql == NULL ? SQLITE_NOMEM : prepare(db, sql, &statement, message);

	sqlite3_free(sql);
	if (result == SQLITE_OK && sqlite3_step(statement) != SQLITE_DONE)
		result = failed(db, message);
	sqlite3_finalize(statement);
	return result;
}

int schema_parse(const char *declaration, struct kv_schema *schema, char **message)
{
	sqlite3 *db;
	int result =
		sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL);

	*schema = (struct kv_schema){0};
	if (result == SQLITE_OK)
		result = create(db, declaration, message);
	if (result == SQLITE_OK)
		result = refuse_constraints(db, message);
	if (result == SQLITE_OK)
		result = read_columns(db, schema, message);
	if (result == SQLITE_OK)
		result = read_key(db, schema, message);
	sqlite3_close(db);
	if (result != SQLITE_OK)
		schema_free(schema);
	return result;
}

bool schema_equal(const struct kv_schema *one, const struct kv_schema *other)
{
	if (one->count != other->count || one->key_count != other->key_count ||
	    one->has_rowid != other->has_rowid || one->autoincrement != other->autoincrement ||
	    memcmp(one->key, other->key, (size_t)one->key_count * sizeof(one->key[0])) != 0)
		return false;
	for (int i = 0; i < one->count; i++) {
		const struct kv_column *left = &one->columns[i], *right = &other->columns[i];

		if (sqlite3_stricmp(left->name, right->name) != 0 ||
		    left->affinity != right->affinity || left->collation != right->collation ||
		    left->not_null != right->not_null)
			return false;
	}
	return true;
}

/* Returns what sqlite3_declare_vtab takes: a virtual table that is written may have one column of a
 * key only, here a hidden one. NULL: no memory. */
char *schema_declare(const struct kv_schema *schema)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	sqlite3_str_appendall(text, "CREATE TABLE t(");
	for (int i = 0; i < schema->count; i++) {
		const struct kv_column *column = &schema->columns[i];

		sqlite3_str_appendf(text, "%s\"%w\" %s COLLATE %s", i > 0 ? ", " : "", column->name,
				    column->type, collation_names[column->collation]);
		if (schema->has_rowid && schema->key[0] == i)
			sqlite3_str_appendall(text, " PRIMARY KEY");
		else if (column->not_null)
			sqlite3_str_appendall(text, " NOT NULL");
	}
	if (!schema->has_rowid)
		sqlite3_str_appendall(text, ", sqlitekv_key BLOB HIDDEN PRIMARY KEY");
	sqlite3_str_appendf(text, ")%s", schema->has_rowid ? "" : " WITHOUT ROWID");
	return sqlite3_str_finish(text);
}

void schema_free(struct kv_schema *schema)
{
	for (int i = 0; i < schema->count; i++) {
		sqlite3_free(schema->columns[i].name);
		sqlite3_free(schema->columns[i].type);
	}
	sqlite3_free(schema->columns);
	sqlite3_free(schema->key);
	*schema = (struct kv_schema){0};
}
