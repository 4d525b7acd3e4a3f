/* Hooks of engine.h for SQLiteKV: SQLite in memory, whose virtual tables are in a LevelDB
 * database. Opens, fills, commits, compacts, closes and removes it. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "database.h"
#include "engine_files.h"
#include "leveldb/compaction.h"
#include "leveldb/environment.h"
#include "leveldb/files.h"
#include "leveldb/index_blocks.h"
#include "log.h"

/* Bytes of rows that are loaded as one transaction. */
enum { LOAD_BYTES = 1 << 20 };

/* SQLite itself has no file. */
const struct log_engine log_engine = {NULL, NULL, false};

static const char *title(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "SQLiteKV on SQLite %s and LevelDB %d.%d",
		 sqlite3_libversion(), leveldb_major_version(), leveldb_minor_version());
	return text;
}

static void drop(struct database *database)
{
	struct kv_database *own = database->own;

	environment_drain();
	if (own != NULL && own->store != NULL)
		store_close(own->store);
	sqlite3_close(database->db);
	free(own);
	database_free(database);
}

/* Sets the message of a call of the module. */
static bool open_failed(struct database *database, char *message, struct error *error)
{
	error_set(error, "opening %s: %s", database->path,
		  message != NULL ? message : sqlite3_errmsg(database->db));
	sqlite3_free(message);
	return false;
}

/* Moves all rows to tables. */
static bool compact(struct database *database, struct error *error)
{
	struct kv_database *own = database->own;

	return !call_failed("compacting", compaction_all(own->store->db), error);
}

static bool open_kv(struct database *database, struct error *error)
{
	const int64_t *settings = database->options->settings;
	bool runs = database->use == ENGINE_RUN;
	struct store_options options = {.sync_given = true,
					.sync = runs && settings[SYNC] == 1,
					.cache_given = true,
					.cache_size = runs ? settings[QUERY_CACHE] : 0,
					.environment = environment_inline(),
					.set_more = index_blocks_set,
					.value = runs ? settings[INDEX_BLOCKS] : 0};
	struct kv_database *own = database->own;
	struct module *module;
	char *message = NULL;

	if (!index_blocks_check(settings[INDEX_BLOCKS], error))
		return false;
	if (runs)
		engine_files_folder(database->path, database->number);
	if (sqlite3_open_v2(":memory:", &database->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY,
			    NULL) != SQLITE_OK)
		return open_failed(database, NULL, error);
	sqlite3_extended_result_codes(database->db, 1);
	if (module_register(database->db, &module) != SQLITE_OK ||
	    module_attach(module, database->path, &options, database->use == ENGINE_CREATE,
			  settings[FORM] == 1, &own->store, &message) != SQLITE_OK) {
		own->store = NULL;
		return open_failed(database, message, error);
	}
	own->before_compiler = own->store->cache != NULL && settings[QUERY_CACHE_PLACE] == 1;
	return true;
}

static struct database *open_database(const char *path, size_t number,
				      const struct options *options,
				      const struct workload *workload, enum engine_use use,
				      struct error *error)
{
	struct database *database = database_make(path, number, options, workload, use, error);
	bool opened;

	if (database == NULL)
		return NULL;
	database->own = calloc(1, sizeof(struct kv_database));
	if (database->own == NULL) {
		error_set(error, "opening %s: no memory", path);
		drop(database);
		return NULL;
	}
	opened = open_kv(database, error);
	environment_drain();
	if (opened && use == ENGINE_CREATE)
		opened = sql_run(database->db, "BEGIN", error);
	if (opened && render_open(database, error))
		return database;
	drop(database);
	return NULL;
}

static bool close_database(struct database *database, struct error *error)
{
	struct kv_database *own = database->own;
	bool closed = true;

	sqlite3_finalize(database->insert);
	if (database->use == ENGINE_CREATE) {
		closed = sql_run(database->db, "COMMIT", error);
		/* what is written to a table is synced */
		if (closed)
			closed = compact(database, error);
	} else if (database->use == ENGINE_RUN) {
		kv_keep_counts(database->number, own->store->cache);
	}
	drop(database);
	return closed;
}

int database_run(struct database *database, const char *sql)
{
	struct error error;
	const char *end;
	char *made;
	int result;

	if (!create_is_table(sql))
		return sqlite3_exec(database->db, sql, NULL, NULL, NULL);
	made = create_virtual(database, sql, &end, &error);
	result = made == NULL ? SQLITE_ERROR : sqlite3_exec(database->db, made, NULL, NULL, NULL);
	sqlite3_free(made);
	return result;
}

/* Rows are loaded in transactions of a size that memory has. */
static bool load(struct database *database, const struct transaction *transaction,
		 struct error *error)
{
	struct kv_database *own = database->own;

	if (!sqlite_load(database, transaction, error))
		return false;
	own->loaded += transaction->operations->size;
	if (own->loaded < LOAD_BYTES)
		return true;
	own->loaded = 0;
	if (!sql_run(database->db, "COMMIT", error))
		return false;
	environment_drain();
	return sql_run(database->db, "BEGIN", error);
}

static bool read_cached(struct database *database, const char **text, struct outcome *outcome)
{
	struct kv_database *own = database->own;
	struct direct direct;

	if (!own->before_compiler || !direct_read(own->store->module, text, &direct))
		return false;
	outcome->rows += direct.has_row;
	for (int i = 0; direct.has_row && i < direct.count; i++)
		sql_count_value(direct.fields[i].type, direct.fields[i].bytes.size, outcome);
	return true;
}

/* CREATE TABLE makes a virtual table. */
static bool execute_one(struct database *database, const char **text, size_t length,
			struct outcome *outcome, struct error *error)
{
	char *made;
	int result;

	if (read_cached(database, text, outcome))
		return true;
	if (!create_is_table(*text))
		return sql_execute_one(database, text, length, outcome, error);
	made = create_virtual(database, *text, text, error);
	if (made == NULL)
		return false;
	result = sqlite3_exec(database->db, made, NULL, NULL, NULL);
	if (result != SQLITE_OK)
		sql_error(database->db, "execution", made, error);
	sqlite3_free(made);
	return result == SQLITE_OK;
}

static bool commit(struct database *database, struct outcome *outcome, struct error *error)
{
	int before = sqlite3_total_changes(database->db);

	if (!sql_execute(database, execute_one, outcome, error))
		return false;
	outcome->changes = sqlite3_total_changes(database->db) - before;
	environment_drain();
	return true;
}

const struct engine engine = {
	.name = "sqlitekv",
	.has_sql = true,
	.settings = kv_settings,
	.file_roles = leveldb_roles,
	.title = title,
	.print_version = sqlite_print_version,
	.open = open_database,
	.close = close_database,
	.remove = calls_remove,
	.create_tables = sqlite_create_tables,
	.load = load,
	.render = sqlite_render,
	.commit = commit,
	.maintain = compact,
	.scan = sqlite_scan,
	.count = sqlite_count,
	.last_key = sqlite_last_key,
	.read_setting = kv_read_setting,
	.read_properties = kv_read_properties,
	.write_version = kv_write_version,
	.write_properties = kv_write_properties,
	.file_sizes = leveldb_file_sizes,
	.log_prepare = engine_files_prepare,
	.log_begin = engine_files_begin,
	.log_end = engine_files_end,
};
