/* Recovers a SQLite/SSL database after a crash: compares three checkpoint ids, copies the WAL file
 * to the database, executes the log's statements again, or rejects the files; also prints their
 * state (ssl_inspect).
 *
 * The ids are the WAL file's, the log's base (the checkpoint before the log), and the mark of the
 * last one written to the database:
 *
 *   WAL = base + 1   durable checkpoint, log not reset: the WAL has its statements
 *   WAL = base       the copy to the database may be partial: repeated; then the log
 *   none, or less    the database is the base's; then the log
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

/* The log's statements are in the next checkpoint. */
static int skip_log(struct ssl *ssl)
{
	bytes_clear(&ssl->replay);
	return log_reset(ssl, ssl->log.base + 1);
}

/* The study's table: a log with statements counts, else the WAL. */
static int recover_as_paper(struct ssl *ssl, bool used)
{
	bool live = ssl->walfile.state == WAL_LIVE;

	ssl->stats.found = recover_case(ssl, used);
	if (live)
		ssl->stats.found = used ? SSL_USED_LIVE : SSL_RESET_LIVE;
	if (live && !used)
		return recover_copy(ssl);
	ssl->walfile.state = WAL_TORN;
	return SQLITE_OK;
}

static int recover_by_ids(struct ssl *ssl, const struct found *state)
{
	struct walfile *wal = &ssl->walfile;
	uint64_t base = ssl->log.base;
	bool live = wal->state == WAL_LIVE, used = state->records > 0;
	int result;

	if (live && (wal->identity != ssl->log.identity || wal->page_size != ssl->page_size))
		return recover_refuse(ssl, "is not of its WAL");
	if (live && wal->id > base + 1)
		return recover_refuse(ssl, "is older than its WAL");
	/* its pages belong to the checkpoint before it, of which some may be copied already */
	if (live && wal->id >= base && state->id != wal->id && state->id + 1 != wal->id)
		return recover_refuse(ssl, "is not of what the database has now");
	if (live && wal->id == base + 1) {
		ssl->stats.found = SSL_WAL_AHEAD;
		result = skip_log(ssl);
		return result == SQLITE_OK ? recover_copy(ssl) : result;
	}
	if (live && wal->id == base) {
		ssl->stats.found = used ? SSL_USED_LIVE : SSL_RESET_LIVE;
		return recover_copy(ssl);
	}
	if (live)
		wal->state = WAL_TORN;
	if (state->id == base + 1) {
		ssl->stats.found = SSL_COPIED_ELSEWHERE;
		return skip_log(ssl);
	}
	if (state->id != base)
		return recover_refuse(ssl, "is not of what the database has now");
	ssl->stats.found = recover_case(ssl, used);
	return SQLITE_OK;
}

/* Without synced records the first may be lost and later ones be there. They would follow the next
 * one written, if it ends where the lost one did, so the log gets a new epoch. A log with its first
 * record gets one when that is executed. */
static int begin_again(struct ssl *ssl)
{
	bool unsynced = ssl->log.unsynced || ssl->options.synchronous == SSL_NORMAL;

	return unsynced && (ssl->options.left_out & SSL_EPOCH_KEPT) == 0
		       ? log_reset(ssl, ssl->log.base)
		       : SQLITE_OK;
}

int recover_marked(struct ssl *ssl, const struct found *state)
{
	uint64_t epoch = ssl->log.epoch;
	int result = ssl->options.recovery == SSL_PAPER ? recover_as_paper(ssl, state->records > 0)
							: recover_by_ids(ssl, state);

	return result == SQLITE_OK && state->records == 0 && ssl->log.epoch == epoch
		       ? begin_again(ssl)
		       : result;
}

/* Executes the log's statements again and makes a checkpoint; until it is durable the log is kept.
 */
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
	/* after an error the log keeps the rest: no checkpoint until it is closed */
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

static void print_state(const struct ssl *ssl, const struct found *state, FILE *out)
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
		fprintf(out, "%s\n", state->fault.text);
	else
		fprintf(out,
			"%016llx, after checkpoint %llu, epoch %llu, %lld transactions, %lld of "
			"%lld bytes\n",
			(unsigned long long)ssl->log.identity, (unsigned long long)ssl->log.base,
			(unsigned long long)ssl->log.epoch, (long long)state->records,
			(long long)ssl->log.tail, (long long)ssl->log.size);
}

/* For a name in an error message. */
enum { LONGEST_NAME = 300 };

/* A file that SQLite would reject as a database has no state. */
static int read_database(struct ssl *ssl, struct found *state)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof(magic)];
	int result = file_read(ssl->database, head, sizeof(head), 0);

	if (result == SQLITE_OK && memcmp(head, magic, sizeof(magic)) != 0)
		return SQLITE_NOTADB;
	if (result == SQLITE_OK)
		result = found_read(ssl, state);
	return result == SQLITE_IOERR_SHORT_READ ? SQLITE_NOTADB : result;
}

bool ssl_inspect(const char *path, FILE *out, struct error *error)
{
	struct ssl ssl = {.error = error};
	struct found state;
	char *names = NULL;
	int result = vfs_register();

	error->text[0] = '\0';
	ssl_defaults(&ssl.options);
	if (result == SQLITE_OK)
		result = ssl_names(&ssl, path, &names);
	if (result == SQLITE_OK)
		result = file_open(ssl.path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB,
				   &ssl.database);
	if (result == SQLITE_OK)
		result = read_database(&ssl, &state);
	if (result == SQLITE_OK)
		print_state(&ssl, &state, out);
	else if (error->text[0] == '\0')
		error_set(error, "inspecting %.*s: %s", LONGEST_NAME, path, sqlite3_errstr(result));
	file_close(&ssl.wal);
	log_close(&ssl.log);
	file_close(&ssl.database);
	walfile_free(&ssl.walfile);
	bytes_free(&ssl.replay);
	release_free_filename(names);
	return result == SQLITE_OK;
}
