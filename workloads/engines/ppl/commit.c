/* Commits a transaction of SQLite/PPL: adds a diff of each changed page to that page's sector in
 * the log, or makes a checkpoint if one does not fit; checks the options of a page log. If a record
 * does not fit into its sector, a checkpoint of the transaction's pages frees their sectors (a
 * merge); if no sector is free, the database shrinks or the log is suspect, all pages are
 * checkpointed. */
#include <string.h>

#include "pages.h"

int page_before(struct ssl *ssl, uint32_t number, uint8_t *page)
{
	const uint8_t *found = memory_page(&ssl->memory, number);
	int64_t offset = (int64_t)(number - 1) * ssl->page_size;
	sqlite3_int64 size;
	int result;

	if (found != NULL) {
		memcpy(page, found, ssl->page_size);
		return SQLITE_OK;
	}
	TRY(ssl->database->pMethods->xFileSize(ssl->database, &size));
	memset(page, 0, ssl->page_size);
	if (offset + ssl->page_size > size)
		return SQLITE_OK;
	result = file_read(ssl->database, page, ssl->page_size, offset);
	if (result == SQLITE_OK && number == 1 && mark_any(page))
		mark_hide(page);
	return result;
}

/* A transaction's changed pages, in made.pages, and their records. */
struct change {
	struct walfile made;
	struct bytes *records;
};

static void change_free(struct change *change)
{
	for (uint32_t i = 0; change->records != NULL && i < change->made.count; i++)
		bytes_free(&change->records[i]);
	sqlite3_free(change->records);
	walfile_free(&change->made);
}

static int compare(struct ssl *ssl, struct change *change)
{
	struct walfile *made = &change->made;
	uint8_t *before = sqlite3_malloc64(ssl->page_size);
	uint32_t kept = 0;
	int result = before != NULL ? SQLITE_OK : SQLITE_NOMEM;

	for (uint32_t i = 0; result == SQLITE_OK && i < made->count; i++) {
		struct wal_page page = made->pages[i];
		struct page_pair pair = {before, ssl->memory.frames[page.frame - 1].page,
					 ssl->page_size, page.number};
		struct bytes *record = &change->records[kept];

		result = page_before(ssl, page.number, before);
		if (result == SQLITE_OK)
			diff_add(&pair, (enum page_record)ssl->options.record, record);
		if (record->failed)
			result = SQLITE_NOMEM;
		if (record->size > 0)
			made->pages[kept++] = page;
	}
	/* pages after the failed one have no record */
	made->count = kept + (result != SQLITE_OK && kept < made->count);
	sqlite3_free(before);
	return result;
}

static int change_read(struct ssl *ssl, struct change *change)
{
	struct walfile *made = &change->made;

	*made = walfile_next(ssl);
	made->mark = ssl->pages->marked;
	made->whole = false;
	TRY(walfile_collect(ssl, ssl->memory.committed, ssl->memory.ends, made));
	change->records = sqlite3_malloc64((made->count + 1) * sizeof(*change->records));
	if (change->records == NULL)
		return SQLITE_NOMEM;
	memset(change->records, 0, (made->count + 1) * sizeof(*change->records));
	return compare(ssl, change);
}

/* Returns whether the database has fewer pages than before. */
static int shrinks(struct ssl *ssl, bool *does)
{
	const struct memory *memory = &ssl->memory;
	uint32_t pages = frame_size(&memory->frames[memory->ends - 1]);
	sqlite3_int64 size;
	int result;

	if (memory->committed > 0) {
		*does = pages < frame_size(&memory->frames[memory->committed - 1]);
		return SQLITE_OK;
	}
	result = ssl->database->pMethods->xFileSize(ssl->database, &size);
	*does = result == SQLITE_OK && pages < size / ssl->page_size;
	return result;
}

/* Returns why the transaction's records cannot be logged. */
static enum ssl_reason why_not(const struct ssl *ssl, const struct change *change)
{
	const struct page_log *pages = ssl->pages;
	enum ssl_reason reason = SSL_NO_REASON;
	uint32_t new = 0;

	for (uint32_t i = 0; i < change->made.count; i++) {
		uint32_t at = sector_find(pages, change->made.pages[i].number);
		size_t size = RECORD_HEAD + change->records[i].size;

		if (SECTOR_HEADER + size > pages->size)
			return SSL_SECTOR_SMALL;
		if (at != 0 && pages->sectors[at - 1].used + size > pages->size)
			reason = SSL_SECTOR_FULL;
		new += at == 0;
	}
	if (reason == SSL_NO_REASON && new > pages->free_count)
		reason = SSL_LOG_FULL;
	return reason;
}

static int log_change(struct ssl *ssl, const struct change *change)
{
	int result = SQLITE_OK;

	/* from here on some of it may be durable */
	ssl->log.suspect = true;
	ssl->pages->writing = true;
	for (uint32_t i = 0; result == SQLITE_OK && i < change->made.count; i++)
		result = page_log_add(ssl, change->made.pages[i].number, &change->records[i]);
	if (result == SQLITE_OK)
		result = page_log_commit(ssl, change->made.database_size);
	return result;
}

/* Checkpoints the transaction's pages only. */
static int merge(struct ssl *ssl, enum ssl_reason reason, struct change *change)
{
	uint32_t frames = ssl->memory.ends, count = change->made.count;
	struct walfile made = change->made;

	TRY(checkpoint_begin(ssl));
	/* the checkpoint before it may have been continued */
	made.id = walfile_next(ssl).id;
	change->made.pages = NULL;
	TRY(walfile_write(ssl, made));
	checkpoint_written(ssl, reason, frames, count);
	ssl->stats.merged_pages += count;
	return SQLITE_OK;
}

int commit_write(struct ssl *ssl)
{
	struct change change = {.records = NULL};
	enum ssl_reason reason = SSL_LOG_ERROR;
	bool less = false;
	int result = SQLITE_OK;

	if (!ssl->log.suspect) {
		result = shrinks(ssl, &less);
		if (result == SQLITE_OK && !less)
			result = change_read(ssl, &change);
		if (result == SQLITE_OK)
			reason = less ? SSL_SHRUNK : why_not(ssl, &change);
	}
	if (result == SQLITE_OK && reason == SSL_NO_REASON)
		result = log_change(ssl, &change);
	else if (result == SQLITE_OK && (reason == SSL_SECTOR_FULL || reason == SSL_SECTOR_SMALL))
		result = merge(ssl, reason, &change);
	else if (result == SQLITE_OK)
		result = checkpoint_write(ssl, reason, ssl->memory.ends);
	change_free(&change);
	return result;
}

void commit_over(struct ssl *ssl)
{
	ssl->pages->writing = false;
}

/* Merged pages also stay in memory until SQLite restarts its WAL. */
enum ssl_reason checkpoint_due(const struct ssl *ssl)
{
	int64_t held = ssl->memory.bytes / ssl->page_size;

	return ssl->options.dirty > 0 && held > ssl->options.dirty ? SSL_DIRTY_PAGES
								   : SSL_NO_REASON;
}

bool options_own(const struct ssl_options *options, struct error *error)
{
	int64_t sector = options->sector;

	if (options->atomic)
		return error_set(error, "a page log makes no checkpoints by atomic writes");
	if (options->synchronous != SSL_FULL)
		return error_set(error, "a page log is synced at each commit: synchronous is full");
	if (sector < LEAST_SECTOR || sector > LARGEST_SECTOR || (sector & (sector - 1)) != 0)
		return error_set(error,
				 "a sector of %lld bytes; powers of two from %d to %d are allowed",
				 (long long)sector, LEAST_SECTOR, LARGEST_SECTOR);
	if (sectors_in(options->log_size, (uint32_t)sector) == 0)
		return error_set(error, "a log of %lld bytes has no room for a sector of %lld",
				 (long long)options->log_size, (long long)sector);
	return true;
}

static int committed(void *argument, sqlite3 *db, const char *name, int frames)
{
	struct ssl *ssl = argument;

	/* an active statement prevents it: retry after a later commit */
	if (ssl->restart_due)
		checkpoint_restart(ssl);
	return SQLITE_OK;
}

int connection_own(struct ssl *ssl)
{
	sqlite3_wal_hook(ssl->db, committed, ssl);
	return SQLITE_OK;
}

/* A page log needs no hooks. */
int connection_watch(struct ssl *ssl)
{
	return SQLITE_OK;
}

int64_t connection_time(int64_t now)
{
	return now;
}
