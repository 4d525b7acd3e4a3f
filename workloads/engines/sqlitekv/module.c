/* The callbacks of SQLite's virtual-table module sqlitekv for transactions and savepoints;
 * registers the module, and attaches all tables of a LevelDB database. */
#include "values.h"

static struct store *store_of(sqlite3_vtab *vtab)
{
	return ((struct kv_table *)vtab)->store;
}

static int table_is_there(sqlite3_vtab *vtab)
{
	const char *gone = ((struct kv_table *)vtab)->gone;

	if (gone == NULL)
		return SQLITE_OK;
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", gone);
	return SQLITE_CANTOPEN;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	int result = table_is_there(vtab);

	return result == SQLITE_OK ? plan_best_index(vtab, info) : result;
}

/* SQLite plans no INSERT, so best_index has not looked. */
static int begin(sqlite3_vtab *vtab)
{
	return table_is_there(vtab);
}

/* All tables of a database are written with the first of them. */
static int sync_tables(sqlite3_vtab *vtab)
{
	return store_commit(store_of(vtab), &vtab->zErrMsg);
}

static int commit(sqlite3_vtab *vtab)
{
	return SQLITE_OK;
}

static int rollback(sqlite3_vtab *vtab)
{
	store_rollback(store_of(vtab));
	return SQLITE_OK;
}

static int rename_table(sqlite3_vtab *vtab, const char *name)
{
	return kv_fail(&vtab->zErrMsg, SQLITE_ERROR, "a table cannot be renamed");
}

static int savepoint(sqlite3_vtab *vtab, int number)
{
	return store_savepoint(store_of(vtab), number);
}

static int release(sqlite3_vtab *vtab, int number)
{
	store_release(store_of(vtab), number);
	return SQLITE_OK;
}

static int rollback_to(sqlite3_vtab *vtab, int number)
{
	store_rollback_to(store_of(vtab), number);
	return SQLITE_OK;
}

static const sqlite3_module methods = {
	.iVersion = 2,
	.xCreate = table_create,
	.xConnect = table_connect,
	.xBestIndex = best_index,
	.xDisconnect = table_disconnect,
	.xDestroy = table_destroy,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
	.xUpdate = table_update,
	.xBegin = begin,
	.xSync = sync_tables,
	.xCommit = commit,
	.xRollback = rollback,
	.xRename = rename_table,
	.xSavepoint = savepoint,
	.xRelease = release,
	.xRollbackTo = rollback_to,
};

int module_register(sqlite3 *db, struct module **made)
{
	struct module *module = sqlite3_malloc64(sizeof(*module));
	int result;

	if (module == NULL)
		return SQLITE_NOMEM;
	*module = (struct module){.db = db};
	if (made != NULL)
		*made = module;
	result = sqlite3_create_module_v2(db, "sqlitekv", &methods, module, sqlite3_free);
	return result == SQLITE_OK ? savepoints_register(module) : result;
}

/* Makes the virtual table of one that the database has. */
static int attach(struct module *module, const struct store *store, struct slice name, bool blind,
		  char **message)
{
	char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%.*w\" USING sqlitekv(%Q, form=%s)",
				    (int)name.size, (const char *)name.data, store->path,
				    blind ? "direct" : "table");
	int result =
		sql == NULL ? SQLITE_NOMEM : sqlite3_exec(module->db, sql, NULL, NULL, message);

	sqlite3_free(sql);
	return result;
}

int module_attach(struct module *module, const char *path, const struct store_options *options,
		  bool create, bool blind, struct store **opened, char **message)
{
	struct scan scan = {0};
	int result = store_open(module, path, options, create, opened, message);

	if (result != SQLITE_OK)
		return result;
	key_of_schema(&scan.start, "");
	key_of_schema(&scan.end, "\xff");
	result = scan_begin(&scan, *opened, false, message);
	while (result == SQLITE_OK && scan.valid) {
		struct slice name = bytes_slice(&scan.key), mark;

		slice_take(&name, 2, &mark);
		result = attach(module, *opened, name, blind, message);
		if (result == SQLITE_OK)
			result = scan_next(&scan, message);
	}
	scan_close(&scan);
	if (result != SQLITE_OK)
		store_close(*opened);
	return result;
}
