/* Writes checkpoints of a database with a log (its changed pages to the WAL file and then to the
 * database, each synced); makes a commit durable by a log record or by such a checkpoint, and
 * confirms or cancels it in memory; removes the log when the database is closed.
 *
 * A commit becomes durable by a record in the log, or by a WAL file with the id after the log's
 * base. A checkpoint consists of that WAL file, synced; the log's reset to its id, synced; the copy
 * to the database, synced; and the WAL's reset, not synced. SQLite's own checkpoint comes
 * afterwards, finds everything written, and only restarts its WAL in memory.
 *
 * With atomic writes, a checkpoint of durable commits consists of these writes, with the next id,
 * and the log's reset. A checkpoint that is itself a commit uses the WAL, as SQLite may still roll
 * it back; so do one after a recovery, and one where an obsolete earlier WAL may exist. */
#include "clock.h"
#include "state.h"

const char *const ssl_reasons[SSL_REASONS] = {
	[SSL_NO_REASON] = "logged",
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
	[SSL_SECTOR_FULL] = "sector full",
	[SSL_SECTOR_SMALL] = "larger than a sector",
	[SSL_SHRUNK] = "database shrunk",
};

/* Returns whether the WAL's file is the log's next checkpoint. */
static bool wal_ahead(const struct ssl *ssl)
{
	return ssl->walfile.state == WAL_LIVE && ssl->walfile.id == ssl->log.base + 1;
}

/* Returns whether the log was not yet reset to the durable checkpoint. */
static bool ahead(const struct ssl *ssl)
{
	return ssl->database_ahead || wal_ahead(ssl);
}

/* Returns whether a durable checkpoint is unfinished. */
static bool begun(const struct ssl *ssl)
{
	return ssl->database_ahead || ssl->walfile.state == WAL_LIVE;
}

/* Counts a finished checkpoint, with the time since begin_ns. */
static void count_time(struct ssl *ssl, int64_t begin_ns)
{
	struct ssl_stats *stats = &ssl->stats;

	ssl->due_ns += (int64_t)clock_now() - begin_ns;
	stats->checkpoint_ns += ssl->due_ns;
	if (ssl->due_ns > stats->checkpoint_longest_ns)
		stats->checkpoint_longest_ns = ssl->due_ns;
	ssl->due_ns = 0;
}

/* Continues the durable checkpoint. */
static int go_on(struct ssl *ssl)
{
	int64_t begin_ns = (int64_t)clock_now();
	bool whole = ssl->database_ahead || ssl->walfile.whole;

	if (ahead(ssl)) {
		TRY(log_reset(ssl, ssl->log.base + 1));
		ssl->stats.checkpoints[ssl->due]++;
	}
	if (!begun(ssl))
		return SQLITE_OK;
	if (!ssl->database_ahead)
		TRY(walfile_apply(ssl));
	if (whole)
		memory_copied(&ssl->memory, ssl->due_frames);
	else
		for (uint32_t i = 0; i < ssl->walfile.count; i++)
			memory_merged(&ssl->memory, ssl->walfile.pages[i].number, ssl->due_frames);
	ssl->restart_due |= whole;
	ssl->due = SSL_NO_REASON;
	/* If it were found again, recovery would only take longer. */
	if (!ssl->database_ahead)
		walfile_reset(ssl);
	ssl->database_ahead = false;
	count_time(ssl, begin_ns);
	return SQLITE_OK;
}

int checkpoint_begin(struct ssl *ssl)
{
	int result = SQLITE_OK;

	/* The file's pages must be in the database before it is overwritten. */
	if (begun(ssl))
		result = go_on(ssl);
	/* It may have become the next checkpoint; then no record may follow before it is gone. */
	ssl->log.suspect = true;
	ssl->due_begin_ns = (int64_t)clock_now();
	return result;
}

void checkpoint_written(struct ssl *ssl, enum ssl_reason reason, uint32_t frames, uint32_t pages)
{
	ssl->due_ns = (int64_t)clock_now() - ssl->due_begin_ns;
	ssl->due = reason;
	ssl->due_frames = frames;
	ssl->stats.dirty_pages += pages;
	if (pages > ssl->stats.dirty_most)
		ssl->stats.dirty_most = pages;
}

int checkpoint_write(struct ssl *ssl, enum ssl_reason reason, uint32_t frames)
{
	uint32_t dirty = ssl->memory.dirty;
	struct walfile made;
	int result;

	TRY(checkpoint_begin(ssl));
	made = walfile_next(ssl);
	result = walfile_collect(ssl, ssl->memory.copied, frames, &made);
	if (result == SQLITE_OK)
		result = walfile_write(ssl, made);
	else
		walfile_free(&made);
	if (result == SQLITE_OK)
		checkpoint_written(ssl, reason, frames, dirty);
	return result;
}

/* The WAL's file may still have an earlier checkpoint, which SQLite itself would copy. */
static int forget_wal(struct ssl *ssl)
{
	int result;

	if (!ssl->walfile.unsynced || (ssl->options.left_out & SSL_OLDER_WAL))
		return SQLITE_OK;
	ssl->stats.wal_syncs++;
	result = ssl->wal->pMethods->xSync(ssl->wal, SQLITE_SYNC_NORMAL);
	ssl->walfile.unsynced = result != SQLITE_OK;
	return result;
}

/* The first step by atomic writes, of committed pages; a database that shrank uses the WAL. */
static int write_at_once(struct ssl *ssl, enum ssl_reason reason)
{
	uint32_t frames = ssl->memory.committed, dirty = ssl->memory.dirty;
	struct walfile made = walfile_next(ssl);
	sqlite3_int64 size = 0;
	int result = walfile_collect(ssl, ssl->memory.copied, frames, &made);
	bool shrank;

	if (result == SQLITE_OK)
		result = ssl->database->pMethods->xFileSize(ssl->database, &size);
	shrank = size > (int64_t)made.database_size * made.page_size;
	if (result == SQLITE_OK && !shrank)
		result = checkpoint_begin(ssl);
	if (result == SQLITE_OK && !shrank)
		result = forget_wal(ssl);
	if (result == SQLITE_OK && !shrank)
		result = atomic_write(ssl, &made);
	walfile_free(&made);
	if (result == SQLITE_OK && shrank)
		return checkpoint_write(ssl, reason, frames);
	if (result == SQLITE_OK) {
		checkpoint_written(ssl, reason, frames, dirty);
		ssl->database_ahead = true;
	}
	return result;
}

int checkpoint(struct ssl *ssl, enum ssl_reason reason)
{
	bool at_once = ssl->options.atomic && reason != SSL_AFTER_RECOVERY;
	int result = SQLITE_OK;

	if (begun(ssl))
		TRY(go_on(ssl));
	if (ssl->memory.committed > ssl->memory.copied) {
		result = at_once && ssl->walfile.state == WAL_RESET
				 ? write_at_once(ssl, reason)
				 : checkpoint_write(ssl, reason, ssl->memory.committed);
		return result == SQLITE_OK ? go_on(ssl) : result;
	}
	/* a record of a transaction that was rolled back */
	if (log_used(ssl))
		result = log_reset(ssl, ssl->log.base);
	return result;
}

int commit_durable(struct ssl *ssl)
{
	const struct memory *memory = &ssl->memory;
	int result = SQLITE_OK;

	if (memory->ends <= memory->committed || ssl->replaying || ssl->log.appended != 0 ||
	    (ssl->due != SSL_NO_REASON && ssl->due_frames == memory->ends))
		return SQLITE_OK;
	/* after the WAL's file, only the log that was reset to it has records */
	if (ahead(ssl))
		result = go_on(ssl);
	return ahead(ssl) ? result : commit_write(ssl);
}

/* SQLite completed the commit. An error of the checkpoint does not undo it: it is retried with the
 * next one. */
int commit_confirm(struct ssl *ssl)
{
	struct memory *memory = &ssl->memory;
	enum ssl_reason reason;
	bool logged;

	if (memory->ends <= memory->committed)
		return SQLITE_OK;
	TRY(commit_durable(ssl));
	logged = ssl->log.appended != 0;
	if (memory->bytes > ssl->stats.memory_peak)
		ssl->stats.memory_peak = memory->bytes;
	memory_commit(memory);
	log_confirm(&ssl->log);
	commit_over(ssl);
	if (ssl->replaying)
		return SQLITE_OK;
	ssl->stats.transactions++;
	ssl->stats.logged += logged;
	if (begun(ssl))
		go_on(ssl);
	reason = checkpoint_due(ssl);
	if (!begun(ssl) && reason != SSL_NO_REASON)
		checkpoint(ssl, reason);
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
		ssl->due = SSL_NO_REASON;
	}
	log_cancel(ssl);
	ssl->memory.ends = ssl->memory.committed;
}

/* Takes the mark off the database. */
static int unmark(struct ssl *ssl)
{
	uint8_t sector[LOG_SLOT];

	TRY(file_read(ssl->database, sector, sizeof(sector), 0));
	mark_hide(sector);
	TRY(file_write(ssl->database, sector, sizeof(sector), 0));
	return ssl->database->pMethods->xSync(ssl->database, SQLITE_SYNC_NORMAL);
}

/* Closes a database: removes the log if everything is in the database, else leaves it. */
int end_files(struct ssl *ssl)
{
	const struct memory *memory = &ssl->memory;

	if (ssl->log.file == NULL || ssl->wal == NULL)
		return SQLITE_OK;
	if (memory->committed != memory->copied || begun(ssl) || log_used(ssl) || !ssl->closing)
		return SQLITE_OK;
	/* it equals the database, but no longer after SQLite itself writes there */
	TRY(ssl->wal->pMethods->xTruncate(ssl->wal, 0));
	TRY(ssl->wal->pMethods->xSync(ssl->wal, SQLITE_SYNC_NORMAL));
	TRY(unmark(ssl));
	file_close(&ssl->wal);
	ssl_wrapped->xDelete(ssl_wrapped, ssl->pages_path, 0);
	return log_remove(ssl);
}

/* Restarts SQLite's WAL in memory after its content is in the database; later if a statement is
 * active. */
int checkpoint_restart(struct ssl *ssl)
{
	int frames, copied, result;

	result = sqlite3_wal_checkpoint_v2(ssl->db, "main", SQLITE_CHECKPOINT_PASSIVE, &frames,
					   &copied);
	if (result == SQLITE_OK && frames == copied)
		ssl->restart_due = false;
	return result;
}

bool ssl_checkpoint(struct ssl *ssl, struct error *error)
{
	int result = checkpoint(ssl, SSL_REQUESTED);

	if (result == SQLITE_OK && ssl->restart_due)
		result = checkpoint_restart(ssl);
	return result == SQLITE_OK || result == SQLITE_LOCKED ||
	       error_set(error, "checkpoint of %s: %s", ssl->path, sqlite3_errstr(result));
}
