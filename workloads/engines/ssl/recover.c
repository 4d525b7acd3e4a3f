/* Recovery, by ids: of the checkpoint in the WAL's file, the one that the log comes after (its
 * base), and the one that the database was last written by (its mark).
 *
 *   WAL = base + 1   the checkpoint was durable and the log not reset: its statements are in the
 * WAL WAL = base       the copy to the database may not be whole: copied again, then the log none,
 * or less    the database is the base's, then the log
 *
 * Anything else is a log, WAL or database of another history, which is refused and left as it is.
 */
#include <string.h>

#include "state.h"

const char *const ssl_cases[SSL_CASES] = {
	[SSL_CLEAN] = "clean",
	[SSL_NEW] = "log not begun or closed",
	[SSL_RESET_RESET] = "log reset; WAL reset",
	[SSL_RESET_LIVE] = "log reset; WAL live",
	[SSL_RESET_TORN] = "log reset; WAL torn",
	[SSL_USED_RESET] = "log used; WAL reset",
	[SSL_USED_LIVE] = "log used; WAL live",
	[SSL_USED_TORN] = "log used; WAL torn",
	[SSL_WAL_AHEAD] = "WAL ahead of the log",
	[SSL_COPIED_ELSEWHERE] = "WAL ahead of the log; copied",
};

/* What there is of a database. */
struct state {
	enum log_state log;
	struct error said; /* why the log is bad */
	int64_t records;
	bool marked;
	uint64_t identity, id; /* of the mark; identity 0: it is damaged */
	uint32_t page_size;    /* of the database */
};

static int refuse(struct ssl *ssl, const char *what)
{
	error_set(ssl->error, "%s: its statement log %s %s", ssl->path, ssl->log_path, what);
	return SQLITE_CANTOPEN;
}

static int read_state(struct ssl *ssl, struct state *state)
{
	uint8_t head[LOG_SLOT];
	int there, result;

	*state = (struct state){0};
	result = file_read(ssl->database, head, sizeof(head), 0);
	if (result != SQLITE_OK)
		return result;
	state->marked = mark_any(head);
	if (!mark_get(head, &state->identity, &state->id))
		state->identity = 0;
	state->page_size = (uint32_t)head[16] << 8 | head[17];
	if (state->page_size == 1)
		state->page_size = 65536;
	result = log_open(ssl, &state->log, &state->said);
	if (result == SQLITE_OK && state->log == LOG_GOOD)
		result = log_records(ssl, &ssl->replay, &state->records);
	if (result == SQLITE_CORRUPT) {
		state->log = LOG_BAD;
		error_set(&state->said, "has records that are newer than its header");
		result = SQLITE_OK;
	}
	if (result != SQLITE_OK)
		return result;
	ssl->walfile.state = WAL_ABSENT;
	result = ssl_wrapped->xAccess(ssl_wrapped, ssl->wal_path, SQLITE_ACCESS_EXISTS, &there);
	if (result != SQLITE_OK || !there)
		return result;
	result = file_open(ssl->wal_path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL, &ssl->wal);
	return result == SQLITE_OK ? walfile_read(ssl->wal, &ssl->walfile) : result;
}

static int open_wal(struct ssl *ssl)
{
	if (ssl->wal != NULL)
		return SQLITE_OK;
	return file_open(ssl->wal_path,
			 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL, &ssl->wal);
}

/* Begins a log for a database without one. The mark comes last: with it the log counts. */
static int begin(struct ssl *ssl, const struct state *state)
{
	uint8_t sector[LOG_SLOT];
	int result;

	ssl->page_size = state->page_size;
	result = log_create(ssl);
	if (result == SQLITE_OK)
		result = open_wal(ssl);
	if (result == SQLITE_OK)
		result = file_read(ssl->database, sector, sizeof(sector), 0);
	if (result != SQLITE_OK)
		return result;
	mark_put(sector, ssl->log.identity, ssl->log.base);
	result = file_write(ssl->database, sector, sizeof(sector), 0);
	return result == SQLITE_OK
		       ? ssl->database->pMethods->xSync(ssl->database, SQLITE_SYNC_NORMAL)
		       : result;
}

/* A database without a mark has no log that counts. */
static int recover_unmarked(struct ssl *ssl, const struct state *state)
{
	bool used = state->log == LOG_GOOD && state->records > 0;

	if (state->log == LOG_BAD)
		return refuse(ssl, state->said.text);
	if (used || (ssl->walfile.state == WAL_LIVE && ssl->walfile.identity != 0))
		return refuse(ssl, "is of another database, or of one that was made anew");
	if (ssl->walfile.state == WAL_LIVE) {
		error_set(ssl->error, "%s was changed while it was opened", ssl->path);
		return SQLITE_BUSY;
	}
	ssl->stats.found = state->log == LOG_ABSENT ? SSL_CLEAN : SSL_NEW;
	walfile_free(&ssl->walfile);
	ssl->walfile.state = WAL_RESET;
	return begin(ssl, state);
}

static int copy_wal(struct ssl *ssl)
{
	int result = walfile_apply(ssl);

	return result == SQLITE_OK ? walfile_reset(ssl) : result;
}

/* The log's statements are in the checkpoint that comes next. */
static int skip_log(struct ssl *ssl)
{
	bytes_clear(&ssl->replay);
	return log_reset(ssl, ssl->log.base + 1);
}

static enum ssl_case without_wal(const struct ssl *ssl, bool used)
{
	if (ssl->walfile.state == WAL_TORN)
		return used ? SSL_USED_TORN : SSL_RESET_TORN;
	return used ? SSL_USED_RESET : SSL_RESET_RESET;
}

/* The study's table: a log with statements counts, and else the WAL. */
static int recover_as_paper(struct ssl *ssl, bool used)
{
	bool live = ssl->walfile.state == WAL_LIVE;

	ssl->stats.found = without_wal(ssl, used);
	if (live)
		ssl->stats.found = used ? SSL_USED_LIVE : SSL_RESET_LIVE;
	if (live && !used)
		return copy_wal(ssl);
	ssl->walfile.state = WAL_TORN;
	return SQLITE_OK;
}

static int recover_by_ids(struct ssl *ssl, const struct state *state)
{
	struct walfile *wal = &ssl->walfile;
	uint64_t base = ssl->log.base;
	bool live = wal->state == WAL_LIVE, used = state->records > 0;
	int result;

	if (live && (wal->identity != ssl->log.identity || wal->page_size != ssl->page_size))
		return refuse(ssl, "is not of its WAL");
	if (live && wal->id > base + 1)
		return refuse(ssl, "is older than its WAL");
	if (live && wal->id == base + 1) {
		ssl->stats.found = SSL_WAL_AHEAD;
		result = skip_log(ssl);
		return result == SQLITE_OK ? copy_wal(ssl) : result;
	}
	if (live && wal->id == base) {
		ssl->stats.found = used ? SSL_USED_LIVE : SSL_RESET_LIVE;
		return copy_wal(ssl);
	}
	if (live)
		wal->state = WAL_TORN;
	if (state->id == base + 1) {
		ssl->stats.found = SSL_COPIED_ELSEWHERE;
		return skip_log(ssl);
	}
	if (state->id != base)
		return refuse(ssl, "is not of what the database has now");
	ssl->stats.found = without_wal(ssl, used);
	return SQLITE_OK;
}

/* What was read may be what a process wrote that ended before it synced it: nothing may follow from
 * it that a power cut leaves alone. */
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
	struct state state;
	int result = read_state(ssl, &state);

	if (result != SQLITE_OK)
		return result;
	if (!state.marked)
		return recover_unmarked(ssl, &state);
	result = sync_state(ssl);
	if (result != SQLITE_OK)
		return result;
	if (state.log == LOG_ABSENT)
		return refuse(ssl, "is not there, and the database needs it");
	if (state.log == LOG_UNBEGUN)
		return refuse(ssl, "has no header that is whole");
	if (state.log == LOG_BAD)
		return refuse(ssl, state.said.text);
	if (state.identity != ssl->log.identity || state.page_size != ssl->page_size)
		return refuse(ssl, "is of another database");
	result = ssl->options.recovery == SSL_PAPER ? recover_as_paper(ssl, state.records > 0)
						    : recover_by_ids(ssl, &state);
	return result == SQLITE_OK ? open_wal(ssl) : result;
}

/* Executes the log's statements again, and makes a checkpoint of them: until it is durable the log
 * stays what it is. */
int recover_statements(struct ssl *ssl)
{
	struct reader reader = {ssl->replay.data, ssl->replay.data, false};
	int result = SQLITE_OK;

	if (ssl->replay.size == 0)
		return SQLITE_OK;
	reader.end += ssl->replay.size;
	ssl->replaying = true;
	while (result == SQLITE_OK && reader.next < reader.end) {
		const uint8_t *length = read_bytes(&reader, 4);
		const uint8_t *payload = read_bytes(&reader, get32(length));

		result = record_replay(ssl, payload, get32(length));
		if (result == SQLITE_OK)
			ssl->stats.replayed++;
	}
	/* after an error the log has the rest: until it is closed nothing of this is a checkpoint's
	 */
	ssl->replaying = result != SQLITE_OK;
	bytes_free(&ssl->replay);
	return result == SQLITE_OK ? checkpoint(ssl, SSL_AFTER_RECOVERY) : result;
}

static const char *wal_words(enum wal_state state)
{
	static const char *const words[] = {
		[WAL_ABSENT] = "absent",
		[WAL_RESET] = "reset",
		[WAL_TORN] = "torn",
		[WAL_LIVE] = "live",
	};

	return words[state];
}

static void print_state(const struct ssl *ssl, const struct state *state, FILE *out)
{
	if (state->marked)
		fprintf(out, "database: log %016llx, checkpoint %llu\n",
			(unsigned long long)state->identity, (unsigned long long)state->id);
	else
		fputs("database: no log is live\n", out);
	fprintf(out, "WAL: %s", wal_words(ssl->walfile.state));
	if (ssl->walfile.state == WAL_LIVE)
		fprintf(out, ", log %016llx, checkpoint %llu, %u pages of %u",
			(unsigned long long)ssl->walfile.identity,
			(unsigned long long)ssl->walfile.id, ssl->walfile.count,
			ssl->walfile.page_size);
	fputs("\nlog: ", out);
	if (state->log == LOG_ABSENT)
		fputs("absent\n", out);
	else if (state->log == LOG_UNBEGUN)
		fputs("no header that is whole\n", out);
	else if (state->log == LOG_BAD)
		fprintf(out, "%s\n", state->said.text);
	else
		fprintf(out,
			"%016llx, after checkpoint %llu, epoch %llu, %lld transactions, %lld of "
			"%lld bytes\n",
			(unsigned long long)ssl->log.identity, (unsigned long long)ssl->log.base,
			(unsigned long long)ssl->log.epoch, (long long)state->records,
			(long long)ssl->log.tail, (long long)ssl->log.size);
}

bool ssl_inspect(const char *path, FILE *out, struct error *error)
{
	struct ssl ssl = {.error = error};
	struct state state;
	char *names = NULL;
	int result = vfs_register();

	ssl_defaults(&ssl.options);
	if (result == SQLITE_OK)
		result = ssl_names(&ssl, path, &names);
	if (result == SQLITE_OK)
		result = file_open(ssl.path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB,
				   &ssl.database);
	if (result == SQLITE_OK)
		result = read_state(&ssl, &state);
	if (result == SQLITE_OK)
		print_state(&ssl, &state, out);
	else
		error_set(error, "inspecting %s: %s", path, sqlite3_errstr(result));
	file_close(&ssl.wal);
	log_close(&ssl.log);
	file_close(&ssl.database);
	walfile_free(&ssl.walfile);
	bytes_free(&ssl.replay);
	sqlite3_free_filename(names);
	return result == SQLITE_OK;
}
