/* Recovers a SQLite/PPL database after a crash: copies the merged pages of an unfinished
 * checkpoint, applies the log's records of committed transactions to the other pages, and makes a
 * checkpoint of all. The file of checkpoints is copied if it is the log's last one or the next, and
 * its pages leave the log, which stays until the new checkpoint is durable.
 *
 * SQLite without this module does not copy the file of checkpoints, as its name is not a WAL's. */
#include <stdlib.h>
#include <string.h>

#include "pages.h"

/* SQLite itself does not copy merged pages. */
const char *const ssl_cases[SSL_CASES] = {
	[SSL_CLEAN] = "clean",
	[SSL_NEW] = "log not begun or closed",
	[SSL_RESET_RESET] = "log reset; no merged pages",
	[SSL_RESET_LIVE] = "log reset; merged pages live",
	[SSL_RESET_TORN] = "log reset; merged pages torn",
	[SSL_USED_RESET] = "log used; no merged pages",
	[SSL_USED_LIVE] = "log used; merged pages live",
	[SSL_USED_TORN] = "log used; merged pages torn",
	[SSL_WAL_AHEAD] = "merged pages ahead of the log",
	[SSL_COPIED_ELSEWHERE] = "merged pages ahead; copied",
};

static const uint8_t *header_of(const struct page_log *pages, uint32_t sector)
{
	return pages->all + sector_offset(pages, sector);
}

/* A record of a sector, found by the end of the one before it. */
struct record {
	uint32_t end;
	uint64_t transaction;
	uint32_t check;
	const uint8_t *payload;
	uint32_t size;
};

static bool record_next(const struct page_log *pages, uint32_t sector, struct record *record)
{
	const uint8_t *header = header_of(pages, sector), *at = header + record->end;
	uint32_t check;

	if (record->end + RECORD_HEAD >= pages->size)
		return false;
	record->size = get32(at);
	if (record->size == 0 || record->size > pages->size - record->end - RECORD_HEAD)
		return false;
	check = crc32c(crc32c(0, header, SECTOR_HEADER), at, 4);
	record->check = get32(at + 4);
	if (crc32c(check, at + 8, 8 + record->size) != record->check)
		return false;
	record->transaction = get64(at + 8);
	record->payload = at + RECORD_HEAD;
	record->end += RECORD_HEAD + record->size;
	return true;
}

static struct record record_before(void)
{
	return (struct record){.end = SECTOR_HEADER};
}

int log_records(struct ssl *ssl, struct bytes *records, int64_t *count)
{
	struct page_log *pages = ssl->pages;
	int result;

	*count = 0;
	bytes_clear(records);
	sectors_clear(pages);
	pages->free_count = 0;
	sqlite3_free(pages->all);
	pages->all = sqlite3_malloc64((sqlite3_uint64)ssl->log.size);
	if (pages->all == NULL)
		return SQLITE_NOMEM;
	result = file_read(ssl->log.file, pages->all, ssl->log.size, 0);
	for (uint32_t i = 0; result == SQLITE_OK && i < pages->count; i++) {
		const uint8_t *header = header_of(pages, i);
		uint32_t page = get32(header);
		uint64_t epoch = get64(header + 8);
		struct record record = record_before();

		if (page == 0 || epoch < pages->floor ||
		    get32(header + 4) != crc32c(crc32c(0, header, 4), header + 8, 8)) {
			pages->free[pages->free_count++] = i;
			continue;
		}
		/* the header is an older one */
		if (epoch > ssl->log.epoch)
			return SQLITE_CORRUPT;
		sector_take(pages, i, page, epoch);
		while (record_next(pages, i, &record)) {
			sector_count(pages, i, record.check);
			++*count;
		}
	}
	return result;
}

static int by_number(const void *left, const void *right)
{
	const struct wal_page *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

/* Returns whether a sector's page is in the file of checkpoints; a sector used since then is newer.
 */
static bool merged(const struct ssl *ssl, uint32_t sector)
{
	const struct walfile *wal = &ssl->walfile;
	const struct sector *of = &ssl->pages->sectors[sector];
	struct wal_page page = {of->page, 0};

	return wal->state == WAL_LIVE && of->page != 0 && of->epoch < ssl->log.epoch &&
	       bsearch(&page, wal->pages, wal->count, sizeof(page), by_number) != NULL;
}

/* Returns whether the log has all records of the transactions up to `last`. */
static bool complete(const struct ssl *ssl, uint64_t last, struct tally of)
{
	const struct page_log *pages = ssl->pages;

	for (uint32_t i = 0; i < pages->count; i++) {
		struct record record = record_before();

		while (pages->sectors[i].page != 0 && !merged(ssl, i) &&
		       record_next(pages, i, &record))
			if (record.transaction <= last) {
				of.records--;
				of.checks -= record.check;
			}
	}
	return of.records == 0 && of.checks == 0;
}

static struct tally tally_of(const uint8_t *word)
{
	return (struct tally){get32(word + 8), get32(word + 16)};
}

/* Finds the last committed transaction. `ahead`: later ones are committed too, and some of their
 * sectors may be emptied, so they are not checked. False: committed data is missing. */
static bool find_committed(struct ssl *ssl, bool ahead, uint64_t *committed)
{
	struct page_log *pages = ssl->pages;
	const uint8_t *words[2] = {NULL, NULL}; /* the later one first */
	bool checks =
		!ahead && (ssl->options.left_out & (PPL_COMMIT_UNASKED | PPL_NOT_EMPTIED)) == 0;
	uint64_t last;

	for (int i = 0; i < 2; i++) {
		const uint8_t *word = pages->all + (int64_t)i * LOG_SLOT + AT_WORD;

		if (get32(word + WORD - 4) != crc32c(0, word, WORD - 4) ||
		    get64(word) <= pages->confirmed)
			continue;
		if (words[0] == NULL || get64(word) > get64(words[0])) {
			words[1] = words[0];
			words[0] = word;
		} else {
			words[1] = word;
		}
	}
	pages->database_size = 0;
	last = words[0] != NULL ? get64(words[0]) : pages->confirmed;
	ssl->log.sequence = last + 1;
	if (words[0] != NULL && !ahead && !complete(ssl, last, tally_of(words[0]))) {
		words[0] = words[1];
		last--;
	}
	if (words[0] != NULL && !ahead)
		pages->database_size = get32(words[0] + 12);
	*committed = ssl->options.left_out & PPL_COMMIT_UNASKED ? UINT64_MAX : last;
	return !checks ||
	       complete(ssl, last, words[0] != NULL ? tally_of(words[0]) : pages->of_confirmed);
}

/* Empties the sectors of pages that are in the file of checkpoints, which must not change before.
 */
static int empty_merged(struct ssl *ssl)
{
	static const uint8_t zeros[SECTOR_HEADER];
	struct page_log *pages = ssl->pages;
	int result = SQLITE_OK;

	for (uint32_t i = 0; result == SQLITE_OK && i < pages->count; i++) {
		if (!merged(ssl, i))
			continue;
		result = page_log_write(ssl, zeros, sizeof(zeros), sector_offset(pages, i));
		sector_drop(pages, i);
	}
	return result == SQLITE_OK ? page_log_persist(ssl) : result;
}

static uint32_t used_sectors(const struct page_log *pages, uint64_t committed)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < pages->count; i++) {
		struct record record = record_before();

		used += pages->sectors[i].page != 0 && record_next(pages, i, &record) &&
			record.transaction <= committed;
	}
	return used;
}

/* Adds a page to the WAL in memory, as SQLite writes a frame, with its sector's records applied. */
static int add_frame(struct ssl *ssl, uint8_t *frame, uint32_t sector, uint64_t committed,
		     struct bytes *transactions)
{
	struct page_log *pages = ssl->pages;
	uint32_t number = pages->sectors[sector].page;
	uint8_t *page = frame + FRAME_HEADER;
	struct record record = record_before();
	int result = page_before(ssl, number, page);

	while (result == SQLITE_OK && record_next(pages, sector, &record) &&
	       record.transaction <= committed) {
		if (!diff_apply(record.payload, record.size, page, ssl->page_size, number))
			result = SQLITE_CORRUPT;
		bytes_add(transactions, &record.transaction, sizeof(record.transaction));
	}
	put32be(frame, number);
	if (result == SQLITE_OK)
		result = memory_write(&ssl->memory, frame, (int)(FRAME_HEADER + ssl->page_size),
				      memory_size(&ssl->memory));
	return result;
}

static int make_pages(struct ssl *ssl, uint64_t committed, uint32_t used,
		      struct bytes *transactions)
{
	struct page_log *pages = ssl->pages;
	uint8_t header[WAL_HEADER] = {0};
	uint8_t *frame = sqlite3_malloc64(FRAME_HEADER + ssl->page_size);
	sqlite3_int64 size;
	int result = frame != NULL ? SQLITE_OK : SQLITE_NOMEM;

	if (result == SQLITE_OK)
		result = ssl->database->pMethods->xFileSize(ssl->database, &size);
	if (result == SQLITE_OK && pages->database_size == 0)
		pages->database_size = (uint32_t)(size / ssl->page_size);
	put32be(header + 8, ssl->page_size);
	if (result == SQLITE_OK)
		result = memory_write(&ssl->memory, header, WAL_HEADER, 0);
	for (uint32_t i = 0; result == SQLITE_OK && i < pages->count; i++) {
		struct record record = record_before();

		if (pages->sectors[i].page == 0 || !record_next(pages, i, &record) ||
		    record.transaction > committed)
			continue;
		memset(frame, 0, FRAME_HEADER);
		put32be(frame + 4, --used == 0 ? pages->database_size : 0);
		result = add_frame(ssl, frame, i, committed, transactions);
	}
	sqlite3_free(frame);
	if (result == SQLITE_OK)
		memory_commit(&ssl->memory);
	return result;
}

static int by_value(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static int64_t count_different(const struct bytes *transactions)
{
	uint64_t *numbers = (uint64_t *)(void *)transactions->data;
	size_t count = transactions->size / sizeof(*numbers);
	int64_t different = 0;

	if (count > 0)
		qsort(numbers, count, sizeof(*numbers), by_value);
	for (size_t i = 0; i < count; i++)
		different += i == 0 || numbers[i] != numbers[i - 1];
	return different;
}

/* Builds the pages of committed records, and checkpoints them. */
static int apply(struct ssl *ssl, uint64_t committed, uint32_t used)
{
	struct bytes transactions = {0};
	int result = make_pages(ssl, committed, used, &transactions);

	if (result == SQLITE_OK && transactions.failed)
		result = SQLITE_NOMEM;
	if (result == SQLITE_OK)
		result = checkpoint(ssl, SSL_AFTER_RECOVERY);
	if (result == SQLITE_OK) {
		ssl->stats.replayed = count_different(&transactions);
		memory_clear(&ssl->memory);
		ssl->restart_due = false;
	}
	bytes_free(&transactions);
	return result;
}

static int recover_live(struct ssl *ssl, bool ahead)
{
	TRY(ahead ? log_reset(ssl, ssl->log.base + 1) : empty_merged(ssl));
	return recover_copy(ssl);
}

/* wal->id is the checkpoint that the file of merged pages is of, log.base the one that the log's
 * records come after. The file's is
 * - below base: left of an earlier checkpoint, not used;
 * - base: copied, as the copying may have been cut off, and its pages leave the log;
 * - base + 1: copied, and the log, whose pages it has, begins anew;
 * - above: the log is an old copy.
 * The database's mark (found->id) must be what the log has for it. */
int recover_marked(struct ssl *ssl, const struct found *found)
{
	struct walfile *wal = &ssl->walfile;
	uint64_t base = ssl->log.base, committed;
	bool live = wal->state == WAL_LIVE, ahead = live && wal->id == base + 1;
	uint32_t used;
	int result = SQLITE_OK;

	if (live && (wal->salt != (uint32_t)ssl->log.identity || wal->page_size != ssl->page_size))
		return recover_refuse(ssl, "is not of its merged pages");
	if (live && wal->id > base + 1)
		return recover_refuse(ssl, "is older than its merged pages");
	if (live && wal->id < base) {
		wal->state = WAL_TORN;
		live = false;
	}
	if (found->id != ssl->pages->marked &&
	    !(live && !ahead && wal->whole && found->id == page_log_marked_before(ssl)))
		return recover_refuse(ssl, "is not of what the database has now");
	if (!find_committed(ssl, ahead, &committed))
		return recover_refuse(ssl, "lacks records of transactions that were committed");
	ssl->stats.found = recover_case(ssl, used_sectors(ssl->pages, committed) > 0);
	if (live)
		result = recover_live(ssl, ahead);
	used = used_sectors(ssl->pages, committed);
	if (live && !ahead)
		ssl->stats.found = used > 0 ? SSL_USED_LIVE : SSL_RESET_LIVE;
	else if (ahead)
		ssl->stats.found = SSL_WAL_AHEAD;
	if (result == SQLITE_OK)
		result = recover_open(ssl);
	if (result == SQLITE_OK && used > 0)
		result = apply(ssl, committed, used);
	else if (result == SQLITE_OK && log_used(ssl))
		result = log_reset(ssl, ssl->log.base);
	sqlite3_free(ssl->pages->all);
	ssl->pages->all = NULL;
	return result;
}

/* A page log has no statements to recover. */
int recover_statements(struct ssl *ssl)
{
	return SQLITE_OK;
}
