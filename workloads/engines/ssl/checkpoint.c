/* Commits and checkpoints.
 *
 * A commit is durable by a record of the log, or by a WAL file with the id that follows the log's
 * base. A checkpoint is that WAL file, synced; the log's reset to its id, synced; the copy to the
 * database, synced; the WAL's reset, which nothing waits for. SQLite's own checkpoint comes after
 * it, finds all written, and only begins its WAL in memory again. */
#include <string.h>
#include <time.h>

#include "state.h"

const char *const ssl_reasons[SSL_REASONS] = {
	[SSL_LOGGED] = "logged",
	[SSL_LOG_FULL] = "log full",
	[SSL_DIRTY_PAGES] = "dirty pages",
	[SSL_REQUESTED] = "requested",
	[SSL_AFTER_RECOVERY] = "after recovery",
	[SSL_TOO_LARGE] = "larger than the log",
	[SSL_SCHEMA] = "schema",
	[SSL_NOT_REPEATABLE] = "not repeatable",
	[SSL_OTHER_DATABASE] = "other database",
	[SSL_FAILED_STATEMENT] = "failed statement",
	[SSL_NOT_CAPTURED] = "not captured",
	[SSL_LOG_ERROR] = "log error",
};

/* Whether the WAL's file is the log's next checkpoint. */
static bool wal_ahead(const struct ssl *ssl)
{
	return ssl->walfile.state == WAL_LIVE && ssl->walfile.id == ssl->log.base + 1;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A checkpoint is over, of which a last part began then. */
static void count_time(struct ssl *ssl, int64_t begin_ns)
{
	struct ssl_stats *stats = &ssl->stats;

	ssl->due_ns += now_ns() - begin_ns;
	stats->checkpoint_ns += ssl->due_ns;
	if (ssl->due_ns > stats->checkpoint_longest_ns)
		stats->checkpoint_longest_ns = ssl->due_ns;
	ssl->due_ns = 0;
}

/* Goes on with the checkpoint whose WAL is written. */
static int go_on(struct ssl *ssl)
{
	int64_t begin_ns = now_ns();
	int result = SQLITE_OK;

	if (wal_ahead(ssl)) {
		result = log_reset(ssl, ssl->walfile.id);
		if (result != SQLITE_OK)
			return result;
		ssl->stats.checkpoints[ssl->due]++;
	}
	if (ssl->walfile.state != WAL_LIVE)
		return SQLITE_OK;
	result = walfile_apply(ssl);
	if (result != SQLITE_OK)
		return result;
	memory_copied(&ssl->memory, ssl->due_frames);
	ssl->due = SSL_LOGGED;
	ssl->restart_due = true;
	/* To find it there once more costs a recovery its time, and no more. */
	walfile_reset(ssl);
	count_time(ssl, begin_ns);
	return SQLITE_OK;
}

static int write_wal(struct ssl *ssl, enum ssl_reason reason, uint32_t frames)
{
	uint32_t dirty = ssl->memory.dirty;
	int64_t begin_ns;
	int result = SQLITE_OK;

	/* What is in the file and not in the database must be there before it is overwritten. */
	if (ssl->walfile.state == WAL_LIVE)
		result = go_on(ssl);
	/* It may have become the next checkpoint; then no record may follow before it is gone. */
	ssl->log.suspect = true;
	begin_ns = now_ns();
	if (result == SQLITE_OK)
		result = walfile_write(ssl, frames);
	if (result != SQLITE_OK)
		return result;
	ssl->due_ns = now_ns() - begin_ns;
	ssl->due = reason;
	ssl->due_frames = frames;
	ssl->stats.dirty_pages += dirty;
	if (dirty > ssl->stats.dirty_most)
		ssl->stats.dirty_most = dirty;
	return SQLITE_OK;
}

int checkpoint(struct ssl *ssl, enum ssl_reason reason)
{
	int result = SQLITE_OK;

	if (ssl->walfile.state == WAL_LIVE)
		result = go_on(ssl);
	if (result != SQLITE_OK)
		return result;
	if (ssl->memory.committed > ssl->memory.copied) {
		result = write_wal(ssl, reason, ssl->memory.committed);
		return result == SQLITE_OK ? go_on(ssl) : result;
	}
	/* a record of a transaction that was rolled back */
	if (ssl->log.suspect || ssl->log.tail > LOG_RECORDS)
		result = log_reset(ssl, ssl->log.base);
	return result;
}

/* Why the transaction that commits cannot be a record; `payload` gets it if it can. */
static enum ssl_reason why_not(struct ssl *ssl, struct bytes *payload)
{
	const struct transaction_log *transaction = &ssl->transaction;

	if (ssl->log.suspect)
		return SSL_LOG_ERROR;
	if (ssl->always != SSL_LOGGED)
		return ssl->always;
	if (transaction->taint != SSL_LOGGED)
		return transaction->taint;
	if (ssl->schema_taint != SSL_LOGGED)
		return ssl->schema_taint;
	if (!transaction->any)
		return SSL_NOT_CAPTURED;
	if (!record_payload(ssl, payload) || !log_fits(&ssl->log, payload->size))
		return SSL_TOO_LARGE;
	return SSL_LOGGED;
}

int commit_durable(struct ssl *ssl)
{
	struct memory *memory = &ssl->memory;
	struct bytes payload = {0};
	enum ssl_reason reason;
	int result = SQLITE_OK;

	if (memory->ends <= memory->committed || ssl->replaying || ssl->log.appended != 0 ||
	    (ssl->due != SSL_LOGGED && ssl->due_frames == memory->ends))
		return SQLITE_OK;
	/* behind the WAL's file only the log that was reset to it has records */
	if (wal_ahead(ssl))
		result = go_on(ssl);
	if (wal_ahead(ssl))
		return result;
	record_statement(ssl);
	reason = why_not(ssl, &payload);
	result = reason == SSL_LOGGED ? log_append(ssl, &payload)
				      : write_wal(ssl, reason, memory->ends);
	bytes_free(&payload);
	return result;
}

static bool log_nearly_full(const struct ssl *ssl)
{
	const struct log *log = &ssl->log;

	return (log->tail - LOG_RECORDS) * 100 >= (log->size - LOG_RECORDS) * ssl->options.full;
}

/* SQLite went through with the commit. What a checkpoint meets does not undo it: it is tried again
 * with the next one. */
int commit_confirm(struct ssl *ssl)
{
	struct memory *memory = &ssl->memory;
	bool logged;
	int result;

	if (memory->ends <= memory->committed)
		return SQLITE_OK;
	result = commit_durable(ssl);
	if (result != SQLITE_OK)
		return result;
	logged = ssl->log.appended != 0;
	if (memory->bytes > ssl->stats.memory_peak)
		ssl->stats.memory_peak = memory->bytes;
	memory_commit(memory);
	log_confirm(&ssl->log);
	transaction_clear(ssl);
	if (ssl->replaying)
		return SQLITE_OK;
	ssl->stats.transactions++;
	ssl->stats.logged += logged;
	if (ssl->walfile.state == WAL_LIVE)
		go_on(ssl);
	else if (log_nearly_full(ssl))
		checkpoint(ssl, SSL_LOG_FULL);
	else if (ssl->options.dirty > 0 && memory->dirty > ssl->options.dirty)
		checkpoint(ssl, SSL_DIRTY_PAGES);
	return SQLITE_OK;
}

/* SQLite rolled a transaction back, which may be durable by now. */
void commit_cancel(struct ssl *ssl)
{
	if (ssl->memory.ends > ssl->memory.committed && wal_ahead(ssl) &&
	    ssl->due_frames == ssl->memory.ends) {
		ssl->wal->pMethods->xTruncate(ssl->wal, 0);
		walfile_free(&ssl->walfile);
		ssl->walfile.state = WAL_TORN;
		ssl->due = SSL_LOGGED;
	}
	log_cancel(ssl);
	memory_cancel(&ssl->memory);
}

/* Takes the mark off the database. */
static int unmark(struct ssl *ssl)
{
	uint8_t sector[LOG_SLOT];
	int result = file_read(ssl->database, sector, sizeof(sector), 0);

	if (result != SQLITE_OK)
		return result;
	mark_hide(sector);
	result = file_write(ssl->database, sector, sizeof(sector), 0);
	return result == SQLITE_OK
		       ? ssl->database->pMethods->xSync(ssl->database, SQLITE_SYNC_NORMAL)
		       : result;
}

/* Ends a database that is closed: without a log if all of it is in the database, else as it is. */
int end_files(struct ssl *ssl)
{
	const struct memory *memory = &ssl->memory;
	int result = SQLITE_OK;

	if (ssl->log.file == NULL || ssl->wal == NULL)
		return SQLITE_OK;
	if (memory->committed != memory->copied || ssl->walfile.state == WAL_LIVE ||
	    ssl->log.suspect || ssl->log.tail > LOG_RECORDS || !ssl->closing)
		return SQLITE_OK;
	/* its content is the database's; once a SQLite without this writes there, no longer */
	result = ssl->wal->pMethods->xTruncate(ssl->wal, 0);
	if (result == SQLITE_OK)
		result = ssl->wal->pMethods->xSync(ssl->wal, SQLITE_SYNC_NORMAL);
	if (result == SQLITE_OK)
		result = unmark(ssl);
	if (result != SQLITE_OK)
		return result;
	file_close(&ssl->wal);
	log_close(&ssl->log);
	ssl_wrapped->xDelete(ssl_wrapped, ssl->wal_path, 0);
	return ssl_wrapped->xDelete(ssl_wrapped, ssl->log_path, 0);
}
