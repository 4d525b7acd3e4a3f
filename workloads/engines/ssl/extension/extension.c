/* Entry point of the statement log as a loadable extension: registers the VFS "ssl", recovers a
 * database opened with it and gives its connection a log, and adds the SQL functions ssl_stats()
 * and ssl_inspect().
 * docs/reference/ssl.md, "As an extension".
 *
 * SQLite opens a file before the connection exists. So the VFS first opens the plain file; an
 * automatic extension, called once the connection exists, replaces it by the database with its log.
 */
#include <stdio.h>
#include <stdlib.h>

#include "state.h"

SQLITE_EXTENSION_INIT1

/* for sqlite3_txn_state; everything else is older */
enum { LEAST_RELEASE = 3034000 };

static void add_count(sqlite3_str *text, const char *name, int64_t count)
{
	if (count != 0)
		sqlite3_str_appendf(text, "%s\"%s\": %lld",
				    sqlite3_str_length(text) > 1 ? ", " : "", name,
				    (long long)count);
}

/* ssl_stats(): statistics of this connection's log as JSON, without zeros. */
static void stats_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct ssl *ssl = sqlite3_user_data(context);
	const struct ssl_stats *stats = &ssl->stats;
	sqlite3_str *text = sqlite3_str_new(ssl->db);
	char *made;

	sqlite3_str_appendall(text, "{");
	add_count(text, "transactions", stats->transactions);
	add_count(text, "logged", stats->logged);
	for (int i = SSL_NO_REASON + 1; i < SSL_REASONS; i++) {
		char name[64];

		sqlite3_snprintf(sizeof(name), name, "checkpoints: %s", ssl_reasons[i]);
		add_count(text, name, stats->checkpoints[i]);
	}
	add_count(text, "log bytes", stats->log_bytes);
	add_count(text, "WAL pages", stats->wal_pages);
	add_count(text, "database pages", stats->database_pages);
	sqlite3_str_appendall(text, "}");
	made = sqlite3_str_finish(text);
	if (made == NULL)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_text(context, made, -1, sqlite3_free);
}

/* ssl_inspect(path): describes a database, its WAL and its log without changing them. */
static void inspect_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *path = (const char *)sqlite3_value_text(values[0]);
	struct error error = {{0}};
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	bool done;

	if (path == NULL) {
		sqlite3_result_error(context, "ssl_inspect: the path is NULL", -1);
		return;
	}
	out = open_memstream(&text, &size);
	done = out != NULL && ssl_inspect(path, out, &error);
	if (out == NULL || fclose(out) != 0)
		sqlite3_result_error_nomem(context);
	else if (!done)
		sqlite3_result_error(context, error.text, -1);
	else
		/* without the end of the last line */
		sqlite3_result_text(context, text, (int)size - 1, SQLITE_TRANSIENT);
	free(text);
}

static int add_inspect(sqlite3 *db)
{
	return sqlite3_create_function_v2(db, "ssl_inspect", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
					  NULL, inspect_function, NULL, NULL, NULL);
}

static void drop(void *ssl)
{
	database_drop(ssl);
}

/* Recovers after a crash, with a separate connection, which it closes. */
static int recover(const char *name, const struct ssl_options *options, struct error *error)
{
	struct ssl *ssl;
	struct ssl_stats stats;

	if (!ssl_open(name, SQLITE_OPEN_READWRITE, options, &ssl, error))
		return SQLITE_CANTOPEN;
	stats = ssl_stats(ssl);
	sqlite3_log(SQLITE_NOTICE, "%s: %s, %lld transactions of its log executed again", name,
		    ssl_cases[stats.found], (long long)stats.replayed);
	return ssl_close(ssl, error) ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int open_logged(sqlite3 *db, sqlite3_file *file, const char *name, struct ssl *ssl)
{
	bool live;
	int result;

	ssl->adopted = true;
	result = database_live(ssl, &live);
	if (result == SQLITE_OK && live)
		result = recover(name, &ssl->options, ssl->error);
	if (result == SQLITE_OK)
		result = database_convert(ssl, SQLITE_OPEN_READWRITE);
	if (result != SQLITE_OK)
		return result;
	vfs_add(ssl);
	result = vfs_adopt(ssl, file, name);
	ssl->db = db;
	ssl->opening = true;
	if (result == SQLITE_OK)
		result = connection_begin(ssl);
	if (result == SQLITE_OK)
		result = connection_watch(ssl);
	if (result == SQLITE_OK)
		result = plain_connect(ssl);
	ssl->opening = false;
	/* sqlite3_open returns the connection's last error, even one that was handled (schema.c: a
	 * view has no largest rowid) */
	if (result == SQLITE_OK)
		result = sqlite3_exec(db, "", NULL, NULL, NULL);
	return result;
}

/* Reads a number from the database's name; sqlite3_uri_int64 ignores invalid text. */
static bool parameter(const char *name, const char *which, int64_t *value, struct error *error)
{
	const char *text = sqlite3_uri_parameter(name, which);

	if (text == NULL)
		return true;
	*value = sqlite3_uri_int64(name, which, INT64_MIN);
	return *value != INT64_MIN ||
	       error_set(error, "%s=%s in the name of a database is no whole number", which, text);
}

/* Without a live log, a database opened read-only is left to SQLite. */
static int read_only(sqlite3_file *file, const char *name, char **fault)
{
	uint8_t head[100];

	if (file->pMethods == NULL ||
	    file->pMethods->xRead(file, head, sizeof(head), 0) != SQLITE_OK || !mark_any(head))
		return SQLITE_OK;
	*fault = sqlite3_mprintf("%s has a live %s, and cannot be written to recover it", name,
				 log_kind.name);
	return SQLITE_READONLY;
}

/* Called by SQLite for each connection that is opened. */
static int adopt(sqlite3 *db, char **fault, const sqlite3_api_routines *api)
{
	const char *name = sqlite3_db_filename(db, "main");
	bool absent = vfs_absent;
	struct ssl_options options;
	struct error error = {{0}};
	struct ssl *ssl;
	sqlite3_vfs *vfs = NULL;
	sqlite3_file *file = NULL;
	int result = add_inspect(db);

	if (result != SQLITE_OK)
		return result;
	sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
	sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	if (vfs == NULL || !vfs_is_ours(vfs) || name == NULL || name[0] == '\0' || file == NULL)
		return SQLITE_OK;
	if (sqlite3_db_readonly(db, "main") != 0)
		return read_only(file, name, fault);
	ssl = vfs_find(name);
	/* a connection of ssl_open's */
	if (ssl != NULL && ssl->opening)
		return SQLITE_OK;
	ssl_defaults(&options);
	result = SQLITE_MISUSE;
	if (sqlite3_uri_boolean(name, "nolock", 0))
		error_set(&error, "nolock in the name of %s, which has a log and is locked", name);
	else if (parameter(name, "log_size", &options.log_size, &error) &&
		 parameter(name, "log_full", &options.full, &error) &&
		 parameter(name, "dirty_pages", &options.dirty, &error))
		result = database_begin(name, &options, &error, &ssl);
	if (result != SQLITE_OK && absent)
		database_unmake(name, NULL);
	if (result == SQLITE_OK) {
		ssl->absent = absent;
		/* it lives as long as the connection, which may outlive its file */
		result = sqlite3_create_function_v2(db, "ssl_stats", 0,
						    SQLITE_UTF8 | SQLITE_DIRECTONLY, ssl,
						    stats_function, NULL, NULL, drop);
	}
	/* otherwise it was dropped */
	if (result == SQLITE_OK) {
		result = open_logged(db, file, name, ssl);
		if (result != SQLITE_OK) {
			database_failed(ssl, "opening", result);
			/* a program may never close what was not opened */
			vfs_release(ssl, file, name);
		} else {
			ssl->absent = false;
		}
		ssl->error = NULL;
	}
	if (result != SQLITE_OK)
		*fault = sqlite3_mprintf("%s", error.text[0] != '\0' ? error.text
								     : sqlite3_errstr(result));
	return result;
}

__attribute__((visibility("default"))) int sqlite3_ssl_init(sqlite3 *db, char **fault,
							    const sqlite3_api_routines *api);

int sqlite3_ssl_init(sqlite3 *db, char **fault, const sqlite3_api_routines *api)
{
	int result;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < LEAST_RELEASE) {
		*fault = sqlite3_mprintf("ssl: this is SQLite %s; it needs 3.34 or later",
					 sqlite3_libversion());
		return SQLITE_ERROR;
	}
	result = vfs_register();
	vfs_adopts = true;
	if (result == SQLITE_OK)
		result = sqlite3_auto_extension((void (*)(void))adopt);
	if (result == SQLITE_OK)
		result = add_inspect(db);
	/* the VFS stays when the connection that loaded it is closed */
	return result == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : result;
}
