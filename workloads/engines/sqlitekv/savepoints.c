/* Makes savepoints hold for a table that CREATE VIRTUAL TABLE makes within a transaction, by a
 * second virtual table without rows.
 *
 * SQLite reports a savepoint to a table that it has called in the transaction before. When CREATE
 * VIRTUAL TABLE makes a table, SQLite does not report the savepoints that are open, nor what is
 * done with them. So CREATE has SQLite call another table first: one without rows, which every
 * connection has. It is called for these savepoints as for later ones.
 */
#include "kv.h"

static const char name[] = "sqlitekv_savepoints";

struct savepoints {
	sqlite3_vtab base; /* first */
	struct module *module;
};

static struct module *module_of(sqlite3_vtab *vtab)
{
	return ((struct savepoints *)vtab)->module;
}

static int connect(sqlite3 *db, void *module, int count, const char *const *arguments,
		   sqlite3_vtab **vtab, char **message)
{
	int result = sqlite3_declare_vtab(db, "CREATE TABLE t(none)");
	struct savepoints *savepoints =
		result == SQLITE_OK ? sqlite3_malloc64(sizeof(*savepoints)) : NULL;

	if (savepoints == NULL)
		return result == SQLITE_OK ? SQLITE_NOMEM : result;
	*savepoints = (struct savepoints){.module = module};
	*vtab = &savepoints->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

/* Without a plan, SQLite calls none of a cursor's functions. */
static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	return kv_fail(&vtab->zErrMsg, SQLITE_ERROR, "%s has no rows", name);
}

static int update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *rowid)
{
	return kv_fail(&vtab->zErrMsg, SQLITE_READONLY, "%s has no rows", name);
}

static int begin(sqlite3_vtab *vtab)
{
	module_of(vtab)->savepoints = 0;
	return SQLITE_OK;
}

/* The tables have written their rows, or none is kept. */
static int end(sqlite3_vtab *vtab)
{
	for (struct store *store = module_of(vtab)->stores; store != NULL; store = store->next)
		store_rollback(store);
	return SQLITE_OK;
}

static int savepoint(sqlite3_vtab *vtab, int number)
{
	struct module *module = module_of(vtab);
	int result = SQLITE_OK;

	module->savepoints = number + 1;
	for (struct store *store = module->stores; result == SQLITE_OK && store != NULL;
	     store = store->next)
		result = store_savepoint(store, number);
	return result;
}

static int release(sqlite3_vtab *vtab, int number)
{
	struct module *module = module_of(vtab);

	module->savepoints = number;
	for (struct store *store = module->stores; store != NULL; store = store->next)
		store_release(store, number);
	return SQLITE_OK;
}

static int rollback_to(sqlite3_vtab *vtab, int number)
{
	struct module *module = module_of(vtab);

	module->savepoints = number + 1;
	for (struct store *store = module->stores; store != NULL; store = store->next)
		store_rollback_to(store, number);
	return SQLITE_OK;
}

/* Without xCreate, it is there in every connection. */
static const sqlite3_module methods = {
	.iVersion = 2,
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xUpdate = update,
	.xBegin = begin,
	.xCommit = end,
	.xRollback = end,
	.xSavepoint = savepoint,
	.xRelease = release,
	.xRollbackTo = rollback_to,
};

int savepoints_register(struct module *module)
{
	return sqlite3_create_module_v2(module->db, name, &methods, module, NULL);
}

int savepoints_join(struct store *store, char **message)
{
	struct module *module = store->module;
	char *fault = NULL;
	int result;

	if (sqlite3_get_autocommit(module->db))
		return SQLITE_OK;
	result = sqlite3_exec(module->db, "INSERT INTO sqlitekv_savepoints SELECT 0 WHERE 0", NULL,
			      NULL, &fault);
	if (result != SQLITE_OK)
		kv_fail(message, result, "%s", fault != NULL ? fault : sqlite3_errmsg(module->db));
	sqlite3_free(fault);
	return result == SQLITE_OK && module->savepoints > 0
		       ? store_savepoint(store, module->savepoints - 1)
		       : result;
}
