/* Opens and closes databases with a log (ssl_open, ssl_close): checks options, names the files,
 * recovers, and sets up the only connection. */
#include <string.h>

#include "state.h"

enum { LARGEST_LOG = 1 << 30, LONGEST_WRITE = 1000000 };

void ssl_defaults(struct ssl_options *options)
{
	/* the study's: 70 % and 1024 pages; it gives a log size of 750 KB once */
	*options = (struct ssl_options){
		.log_size = 1 << 20, .full = 70, .dirty = 1024, .line = 64, .sector = 512};
}

static bool check_options(const struct ssl_options *options, struct error *error)
{
	if (options->log_size < LOG_LEAST || options->log_size > LARGEST_LOG)
		return error_set(error, "the log's size is %lld bytes; %d to %d are allowed",
				 (long long)options->log_size, LOG_LEAST, LARGEST_LOG);
	if (options->full < 1 || options->full > 100)
		return error_set(error, "a checkpoint at %lld %% of the log; 1 to 100 are allowed",
				 (long long)options->full);
	if (options->dirty < 0)
		return error_set(error, "a checkpoint at %lld pages; 0 and more are allowed",
				 (long long)options->dirty);
	if (options->line < 4 || options->line > 4096 || (options->line & (options->line - 1)) != 0)
		return error_set(error,
				 "a line of %lld bytes; powers of two from 4 to 4096 are allowed",
				 (long long)options->line);
	if (options->write_ns < 0 || options->write_ns > LONGEST_WRITE)
		return error_set(error, "%lld ns to write a line; 0 to %d are allowed",
				 (long long)options->write_ns, LONGEST_WRITE);
	if (options->synchronous == SSL_NORMAL && options->medium == SSL_PCM)
		return error_set(
			error, "a log in persistent memory is never synced; synchronous normal is "
			       "for one in a file");
	return options_own(options, error);
}

/* Returns the log's name: next to the database, or in another folder under the same name. */
static char *log_name(const struct ssl *ssl, const char *full)
{
	const char *folder = ssl->options.log_folder, *last = strrchr(full, '/');

	if (folder == NULL)
		return sqlite3_mprintf("%s%s", full, log_kind.suffix);
	return sqlite3_mprintf("%s/%s%s", folder, last != NULL ? last + 1 : full, log_kind.suffix);
}

int ssl_names(struct ssl *ssl, const char *path, char **names)
{
	char *full = sqlite3_malloc64((sqlite3_uint64)ssl_wrapped->mxPathname + 1);
	char *wal = NULL, *log = NULL, *pages = NULL;
	int result = full != NULL ? SQLITE_OK : SQLITE_NOMEM;

	if (result == SQLITE_OK)
		result = ssl_wrapped->xFullPathname(ssl_wrapped, path, ssl_wrapped->mxPathname,
						    full) &
			 0xff;
	/* following a symbolic link is fine (SQLITE_OK_SYMLINK) */
	if (result == SQLITE_OK) {
		wal = sqlite3_mprintf("%s-wal", full);
		log = log_name(ssl, full);
		pages = sqlite3_mprintf("%s%s", full, log_kind.pages_suffix);
	}
	if (wal != NULL && log != NULL && pages != NULL) {
		/* SQLite's VFS expects parameters after a name */
		const char *const parameters[] = {"log", log, "pages", pages};

		*names = release_filename(full, wal, parameters);
	}
	sqlite3_free(full);
	sqlite3_free(wal);
	sqlite3_free(log);
	sqlite3_free(pages);
	if (*names == NULL)
		return result == SQLITE_OK ? SQLITE_NOMEM : result;
	ssl->path = *names;
	ssl->wal_path = release_filename_wal(*names);
	ssl->log_path = sqlite3_uri_parameter(*names, "log");
	ssl->pages_path = sqlite3_uri_parameter(*names, "pages");
	return SQLITE_OK;
}

int database_live(const struct ssl *ssl, bool *is)
{
	sqlite3_file *file;
	uint8_t head[LOG_SLOT];
	int there, result;

	*is = false;
	result = ssl_wrapped->xAccess(ssl_wrapped, ssl->path, SQLITE_ACCESS_EXISTS, &there);
	if (result != SQLITE_OK || !there)
		return result;
	TRY(file_open(ssl->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB, &file));
	result = file_read(file, head, sizeof(head), 0);
	*is = result == SQLITE_OK && mark_any(head);
	file_close(&file);
	return result == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : result;
}

int database_failed(struct ssl *ssl, const char *what, int result)
{
	if (ssl->error->text[0] == '\0')
		error_set(ssl->error, "%s %s: %s", what, ssl->path,
			  ssl->db != NULL && sqlite3_errcode(ssl->db) != SQLITE_OK
				  ? sqlite3_errmsg(ssl->db)
				  : sqlite3_errstr(result));
	return result;
}

int database_convert(struct ssl *ssl, int flags)
{
	sqlite3_stmt *row = NULL;
	int result;

	TRY(found_others(ssl));
	result = sqlite3_open_v2(ssl->path, &ssl->db, flags, ssl_wrapped->zName);
	if (result == SQLITE_OK)
		result = sqlite3_prepare_v2(ssl->db, "PRAGMA page_count", -1, &row, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_step(row);
	if (result == SQLITE_ROW) {
		bool empty = sqlite3_column_int(row, 0) == 0;

		result = sqlite3_reset(row);
		if (result == SQLITE_OK && empty && ssl->options.creation != NULL)
			result = sqlite3_exec(ssl->db, ssl->options.creation, NULL, NULL, NULL);
	}
	sqlite3_finalize(row);
	if (result == SQLITE_OK)
		result = sqlite3_exec(ssl->db, "PRAGMA journal_mode=wal", NULL, NULL, NULL);
	if (result != SQLITE_OK)
		database_failed(ssl, "opening", result);
	if (sqlite3_close(ssl->db) != SQLITE_OK && result == SQLITE_OK)
		result = SQLITE_BUSY;
	ssl->db = NULL;
	return result;
}

static void rolled_back(void *argument)
{
	commit_cancel(argument);
	commit_over(argument);
}

int connection_begin(struct ssl *ssl)
{
	/* databases attached by a program are left alone */
	const char *first = ssl->adopted ? "PRAGMA main.locking_mode=exclusive"
					 : "PRAGMA locking_mode=exclusive";
	static const char then[] = "PRAGMA main.synchronous=full;"
				   "SELECT count(*) FROM sqlite_master";

	sqlite3_wal_autocheckpoint(ssl->db, 0);
	sqlite3_rollback_hook(ssl->db, rolled_back, ssl);
	TRY(sqlite3_exec(ssl->db, first, NULL, NULL, NULL));
	TRY(sqlite3_exec(ssl->db, then, NULL, NULL, NULL));
	return connection_own(ssl);
}

static int connect(struct ssl *ssl)
{
	int result;

	ssl->opening = true;
	result = sqlite3_open_v2(ssl->path, &ssl->db, SQLITE_OPEN_READWRITE, log_kind.vfs);
	if (result == SQLITE_OK) {
		sqlite3_extended_result_codes(ssl->db, 1);
		result = connection_begin(ssl);
	}
	if (result == SQLITE_OK && ssl->options.connected != NULL)
		result = ssl->options.connected(ssl->db, ssl->options.argument);
	ssl->opening = false;
	return result;
}

/* Returns whether a file has only the page that an opening makes. */
static bool is_bare(sqlite3_file *file, uint8_t head[LOG_SLOT])
{
	enum { CELLS = 103 };
	sqlite3_int64 size;

	if (file->pMethods->xFileSize(file, &size) != SQLITE_OK)
		return false;
	if (size < LOG_SLOT)
		return true;
	return file_read(file, head, LOG_SLOT, 0) == SQLITE_OK &&
	       size <= (head[16] << 8 | head[17]) + (head[17] == 1 ? 65535 : 0) &&
	       head[CELLS] == 0 && head[CELLS + 1] == 0;
}

void database_unmake(const char *path, struct ssl *ssl)
{
	uint8_t head[LOG_SLOT] = {0};
	sqlite3_file *file;
	bool gone = false;

	if (file_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB, &file) != SQLITE_OK)
		return;
	if (file->pMethods->xLock(file, SQLITE_LOCK_SHARED) == SQLITE_OK &&
	    file->pMethods->xLock(file, SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK && is_bare(file, head))
		/* a missing log without its database would be an error */
		gone = ssl_wrapped->xDelete(ssl_wrapped, path, 1) == SQLITE_OK;
	file_close(&file);
	if (!gone || ssl == NULL || !ssl->log_made)
		return;
	ssl_wrapped->xDelete(ssl_wrapped, ssl->pages_path, 0);
	log_remove(ssl);
}

void database_drop(struct ssl *ssl)
{
	if (ssl->absent)
		database_unmake(ssl->path, ssl);
	vfs_remove(ssl);
	memory_clear(&ssl->memory);
	walfile_free(&ssl->walfile);
	bytes_free(&ssl->replay);
	own_free(ssl);
	release_free_filename(ssl->path);
	sqlite3_free(ssl);
}

/* Opens once; `used`: the log had statements. Then it is closed again, so that the connection keeps
 * no state of their execution. */
static int open_once(struct ssl *ssl, int flags, bool *used)
{
	struct ssl *outer = ssl_current;
	bool live;
	int result;

	ssl->absent = file_absent(ssl->path);
	result = database_live(ssl, &live);
	if (result == SQLITE_OK && !live)
		result = database_convert(ssl, flags);
	if (result != SQLITE_OK)
		return result;
	vfs_add(ssl);
	ssl_current = ssl;
	result = connect(ssl);
	*used = ssl->replay.size > 0;
	if (result == SQLITE_OK)
		result = recover_statements(ssl);
	ssl_current = outer;
	if (result == SQLITE_OK && !*used)
		result = connection_watch(ssl);
	if (result == SQLITE_OK && *used) {
		ssl->closing = true;
		result = sqlite3_close(ssl->db);
		ssl->db = NULL;
	}
	return result;
}

int database_begin(const char *path, const struct ssl_options *options, struct error *error,
		   struct ssl **made)
{
	struct ssl *ssl;
	char *names = NULL;
	int result;

	*made = NULL;
	if (!check_options(options, error))
		return SQLITE_MISUSE;
	ssl = sqlite3_malloc64(sizeof(*ssl));
	if (ssl == NULL)
		return SQLITE_NOMEM;
	*ssl = (struct ssl){.options = *options, .error = error};
	result = ssl_names(ssl, path, &names);
	if (result == SQLITE_OK && vfs_find(ssl->path) != NULL) {
		error_set(error, "%s is in use", ssl->path);
		result = SQLITE_BUSY;
	}
	if (result == SQLITE_OK) {
		*made = ssl;
		return SQLITE_OK;
	}
	release_free_filename(names);
	sqlite3_free(ssl);
	return result;
}

bool ssl_open(const char *path, int flags, const struct ssl_options *options, struct ssl **opened,
	      struct error *error)
{
	struct ssl_stats stats = {0};
	bool used = true;
	int result = SQLITE_OK;

	*opened = NULL;
	error->text[0] = '\0';
	result = vfs_register();
	for (int round = 0; result == SQLITE_OK && used && round < 2; round++) {
		struct ssl *ssl;

		result = database_begin(path, options, error, &ssl);
		if (result != SQLITE_OK)
			break;
		result = open_once(ssl, flags, &used);
		if (round == 0)
			stats = ssl->stats;
		ssl->absent &= result != SQLITE_OK;
		if (result == SQLITE_OK && !used) {
			ssl->stats = stats;
			ssl->error = NULL;
			*opened = ssl;
			return true;
		}
		if (result != SQLITE_OK)
			database_failed(ssl, "opening", result);
		/* a log begun unnecessarily is removed too */
		ssl->closing |= ssl->stats.found == SSL_CLEAN || ssl->stats.found == SSL_NEW;
		sqlite3_close(ssl->db);
		database_drop(ssl);
	}
	if (error->text[0] == '\0')
		error_set(error, "opening %s: %s", path, sqlite3_errstr(result));
	return false;
}

bool ssl_close(struct ssl *ssl, struct error *error)
{
	bool done = ssl_checkpoint(ssl, error);
	int result;

	if (sqlite3_next_stmt(ssl->db, NULL) != NULL)
		return error_set(error, "%s has statements that are not finalized", ssl->path);
	if (done && !sqlite3_get_autocommit(ssl->db))
		sqlite3_exec(ssl->db, "ROLLBACK", NULL, NULL, NULL);
	ssl->closing = done;
	result = sqlite3_close(ssl->db);
	if (result == SQLITE_BUSY)
		return error_set(error, "%s has blobs that are not closed", ssl->path);
	database_drop(ssl);
	return done;
}

sqlite3 *ssl_db(struct ssl *ssl)
{
	return ssl->db;
}

struct ssl_stats ssl_stats(const struct ssl *ssl)
{
	return ssl->stats;
}
