/* Reads the state of a database's files when it is opened (mark, log, WAL), rejects files of
 * another database, and begins a log if none is live, else the recovery. */
#include "state.h"

int recover_refuse(struct ssl *ssl, const char *what)
{
	error_set(ssl->error, "%s: its %s %s %s", ssl->path, log_kind.name, ssl->log_path, what);
	return SQLITE_CANTOPEN;
}

int recover_error(const struct ssl *ssl, const char *name, const char *path, int result)
{
	if (result != SQLITE_OK && result != SQLITE_NOMEM && ssl->error != NULL &&
	    ssl->error->text[0] == '\0')
		error_set(ssl->error, "%s: its %s %s: %s", ssl->path, name, path,
			  sqlite3_errstr(result));
	return result;
}

static int pages_error(const struct ssl *ssl, int result)
{
	return recover_error(ssl, log_kind.pages, ssl->pages_path, result);
}

/* Reads the files next to the database. */
static int read_beside(struct ssl *ssl, struct found *state)
{
	int there, result;

	result = log_open(ssl, &state->log, &state->fault);
	if (result == SQLITE_OK && state->log == LOG_GOOD)
		result = log_records(ssl, &ssl->replay, &state->records);
	if (result == SQLITE_CORRUPT) {
		state->log = LOG_BAD;
		error_set(&state->fault, "has records that are newer than its header");
		result = SQLITE_OK;
	}
	if (result != SQLITE_OK)
		return result;
	ssl->walfile.state = WAL_ABSENT;
	result = ssl_wrapped->xAccess(ssl_wrapped, ssl->pages_path, SQLITE_ACCESS_EXISTS, &there);
	if (result != SQLITE_OK || !there)
		return result;
	result = file_open(ssl->pages_path, file_beside(ssl), &ssl->wal);
	if (result == SQLITE_OK)
		result = walfile_read(ssl->wal, &ssl->walfile);
	/* a WAL belongs to SQLite, which makes it again */
	if (result == SQLITE_OK && ssl->walfile.other && log_kind.salted) {
		error_set(ssl->error, "%s: its %s %s is a file of another kind", ssl->path,
			  log_kind.pages, ssl->pages_path);
		return SQLITE_CANTOPEN;
	}
	return pages_error(ssl, result);
}

int found_read(struct ssl *ssl, struct found *state)
{
	uint8_t head[LOG_SLOT];

	*state = (struct found){0};
	TRY(file_read(ssl->database, head, sizeof(head), 0));
	state->marked = mark_any(head);
	if (!mark_get(head, &state->identity, &state->id))
		state->identity = 0;
	state->page_size = (uint32_t)head[16] << 8 | head[17];
	if (state->page_size == 1)
		state->page_size = 65536;
	return read_beside(ssl, state);
}

/* Rejects files that cannot belong to a database without a mark, which has no valid log. */
static int refuse_others(struct ssl *ssl, const struct found *state)
{
	bool used = state->log == LOG_GOOD && state->records > 0;

	if (state->log == LOG_BAD)
		return recover_refuse(ssl, state->fault.text);
	if (used || (ssl->walfile.state == WAL_LIVE && ssl->walfile.identity != 0))
		return recover_refuse(ssl, "is of another database, or of one that was made anew");
	return SQLITE_OK;
}

int found_others(struct ssl *ssl)
{
	struct found state = {0};
	bool live = false;
	int result;

	if (file_absent(ssl->log_path) && file_absent(ssl->pages_path))
		return SQLITE_OK;
	result = read_beside(ssl, &state);
	if (result == SQLITE_OK)
		result = refuse_others(ssl, &state);
	/* they are its own, if it was opened elsewhere since */
	if (result != SQLITE_OK && database_live(ssl, &live) == SQLITE_OK && live) {
		error_set(ssl->error, "%s is in use", ssl->path);
		result = SQLITE_BUSY;
	}
	file_close(&ssl->wal);
	walfile_free(&ssl->walfile);
	log_close(&ssl->log);
	ssl->log = (struct log){0};
	bytes_clear(&ssl->replay);
	return result;
}

int recover_open(struct ssl *ssl)
{
	if (ssl->wal != NULL)
		return SQLITE_OK;
	return pages_error(ssl,
			   file_open(ssl->pages_path,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL,
				     &ssl->wal));
}

/* Begins a log for a database without one. The mark comes last: it makes the log valid. */
static int begin(struct ssl *ssl, const struct found *state)
{
	uint8_t sector[LOG_SLOT];
	int result;

	ssl->page_size = state->page_size;
	result = log_create(ssl);
	if (result == SQLITE_OK)
		result = recover_open(ssl);
	if (result == SQLITE_OK)
		result = file_read(ssl->database, sector, sizeof(sector), 0);
	if (result != SQLITE_OK) {
		if (ssl->wal != NULL)
			ssl_wrapped->xDelete(ssl_wrapped, ssl->pages_path, 0);
		if (ssl->log_made)
			log_remove(ssl);
		return result;
	}
	mark_put(sector, ssl->log.identity, ssl->log.base);
	TRY(file_write(ssl->database, sector, sizeof(sector), 0));
	return ssl->database->pMethods->xSync(ssl->database, SQLITE_SYNC_NORMAL);
}

static int recover_unmarked(struct ssl *ssl, const struct found *state)
{
	TRY(refuse_others(ssl, state));
	if (ssl->walfile.state == WAL_LIVE) {
		error_set(ssl->error, "%s was changed while it was opened", ssl->path);
		return SQLITE_BUSY;
	}
	ssl->stats.found = state->log == LOG_ABSENT ? SSL_CLEAN : SSL_NEW;
	walfile_free(&ssl->walfile);
	ssl->walfile.state = WAL_RESET;
	return begin(ssl, state);
}

int recover_copy(struct ssl *ssl)
{
	TRY(walfile_apply(ssl));
	return walfile_reset(ssl);
}

enum ssl_case recover_case(const struct ssl *ssl, bool used)
{
	if (ssl->walfile.state == WAL_TORN)
		return used ? SSL_USED_TORN : SSL_RESET_TORN;
	return used ? SSL_USED_RESET : SSL_RESET_RESET;
}

/* Syncs what was read: a process may have written it and ended before its sync, and nothing written
 * from now on may survive a power cut without it. */
static int sync_state(const struct ssl *ssl)
{
	sqlite3_file *const files[] = {ssl->wal, ssl->log.file, ssl->database};
	int result = SQLITE_OK;

	for (size_t i = 0; result == SQLITE_OK && i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] != NULL)
			result = files[i]->pMethods->xSync(files[i], SQLITE_SYNC_NORMAL);
	return result;
}

int recover_files(struct ssl *ssl)
{
	struct found state;

	TRY(found_read(ssl, &state));
	if (!state.marked)
		return recover_unmarked(ssl, &state);
	TRY(sync_state(ssl));
	if (state.log == LOG_ABSENT)
		return recover_refuse(ssl, "is not there, and the database needs it");
	if (state.log == LOG_UNBEGUN)
		return recover_refuse(ssl, "has no header that is whole");
	if (state.log == LOG_BAD)
		return recover_refuse(ssl, state.fault.text);
	if (state.identity != ssl->log.identity || state.page_size != ssl->page_size)
		return recover_refuse(ssl, "is of another database");
	TRY(recover_marked(ssl, &state));
	return recover_open(ssl);
}
