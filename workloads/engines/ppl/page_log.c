/* Writes the log file of SQLite/PPL and resets it after a checkpoint. After its headers
 * (engines/ssl/log_file.c) it has a commit word in each of the two slots, then sectors, each with
 * the change records of one page.
 *
 *   header:      sector size 32; floor 64, marked 64, confirmed 64, of these the records that the
 *                log has 32, sum of their CRCs 32
 *   commit word: transaction 64, records that the log has with it 32, the database's pages 32, sum
 *                of their CRCs 32, CRC-32C of that 32; in the slot of the transaction's parity
 *   sector:      page 32, CRC-32C of the rest 32, epoch 64; then records
 *   record:      length of the payload 16, 0 16, CRC-32C of the sector's header, the length
 *                and what follows 32, transaction 64, payload
 *
 * A sector belongs to its page while its epoch is at least the floor: a checkpoint of all pages
 * sets the floor to the next epoch, and one of some pages zeroes the headers of theirs. A
 * transaction is committed if the last commit word names it and all records up to it are there with
 * that sum; otherwise those up to the word before it, or to the header's last one, are. So all that
 * a transaction logs can be written at once, in any order, and a record damaged later is detected.
 * Numbers are little-endian. */
#include "pages.h"

enum {
	AT_SECTOR = 20,
	AT_FLOOR = 56,
	AT_MARKED = 64,
	AT_CONFIRMED = 72,
	AT_RECORDS = 80,
	AT_CHECKS = 84,
};

const struct log_kind log_kind = {
	.name = "page log",
	.vfs = "ppl",
	.suffix = "-ppl",
	.pages_suffix = "-merge",
	.pages = "merged pages",
	.magic = "page log",
	.version = 2,
	.header = LOG_HEADER,
	.salted = true,
};

void log_header_put(const struct ssl *ssl, uint8_t *header)
{
	const struct page_log *pages = ssl->pages;

	put32(header + AT_SECTOR, pages->size);
	put64(header + AT_FLOOR, pages->floor);
	put64(header + AT_MARKED, pages->marked);
	put64(header + AT_CONFIRMED, pages->confirmed);
	put32(header + AT_RECORDS, pages->of_confirmed.records);
	put32(header + AT_CHECKS, pages->of_confirmed.checks);
}

void own_free(struct ssl *ssl)
{
	if (ssl->pages != NULL)
		sectors_free(ssl->pages);
	sqlite3_free(ssl->pages);
	ssl->pages = NULL;
}

static int make(struct ssl *ssl, uint32_t size)
{
	own_free(ssl);
	ssl->pages = sqlite3_malloc64(sizeof(*ssl->pages));
	if (ssl->pages == NULL)
		return SQLITE_NOMEM;
	*ssl->pages = (struct page_log){.floor = 1};
	return sectors_make(ssl->pages, ssl->log.size, size);
}

bool log_header_get(struct ssl *ssl, const uint8_t *header, struct error *fault)
{
	uint32_t size = get32(header + AT_SECTOR);

	if (size < LEAST_SECTOR || size > LARGEST_SECTOR || sectors_in(ssl->log.size, size) == 0)
		return error_set(fault, "has sectors of %u bytes", size);
	if (make(ssl, size) != SQLITE_OK)
		return error_set(fault, "needs more memory than there is");
	ssl->pages->floor = get64(header + AT_FLOOR);
	ssl->pages->marked = get64(header + AT_MARKED);
	ssl->pages->confirmed = get64(header + AT_CONFIRMED);
	ssl->pages->of_confirmed =
		(struct tally){get32(header + AT_RECORDS), get32(header + AT_CHECKS)};
	return true;
}

uint64_t page_log_marked_before(const struct ssl *ssl)
{
	int64_t slot = (int64_t)((ssl->log.epoch + 1) % 2) * LOG_SLOT;

	return get64(ssl->pages->all + slot + AT_MARKED);
}

int log_made(struct ssl *ssl)
{
	return make(ssl, (uint32_t)ssl->options.sector);
}

bool log_used(const struct ssl *ssl)
{
	return ssl->log.suspect || ssl->pages->free_count < ssl->pages->count;
}

/* Persists what was written: now on SSL_PCM, otherwise together with the rest. */
static int note(struct ssl *ssl, size_t size, int64_t offset)
{
	struct page_log *pages = ssl->pages;

	if (ssl->options.medium == SSL_PCM)
		return medium_persist(ssl, size, offset);
	if (pages->highest == 0 || offset < pages->lowest)
		pages->lowest = offset;
	if (offset + (int64_t)size > pages->highest)
		pages->highest = offset + (int64_t)size;
	return SQLITE_OK;
}

int page_log_write(struct ssl *ssl, const void *data, size_t size, int64_t offset)
{
	TRY(medium_write(ssl, data, size, offset));
	return note(ssl, size, offset);
}

int page_log_persist(struct ssl *ssl)
{
	struct page_log *pages = ssl->pages;
	int64_t size = pages->highest - pages->lowest;

	pages->highest = 0;
	return size > 0 ? medium_persist(ssl, (size_t)size, pages->lowest) : SQLITE_OK;
}

static void encode_sector(const struct sector *sector, uint8_t *header)
{
	put32(header, sector->page);
	put64(header + 8, sector->epoch);
	put32(header + 4, crc32c(crc32c(0, header, 4), header + 8, 8));
}

int page_log_add(struct ssl *ssl, uint32_t page, const struct bytes *payload)
{
	struct page_log *pages = ssl->pages;
	uint8_t head[SECTOR_HEADER + RECORD_HEAD], *record = head + SECTOR_HEADER;
	uint32_t at = sector_find(pages, page), check;
	struct bytes all = {0};
	bool first = at == 0;
	struct sector *sector;
	int result;

	if (first) {
		at = pages->free[--pages->free_count] + 1;
		sector_take(pages, at - 1, page, ssl->log.epoch);
	}
	sector = &pages->sectors[at - 1];
	encode_sector(sector, head);
	put32(record, (uint32_t)payload->size);
	put64(record + 8, ssl->log.sequence);
	check = crc32c(crc32c(0, head, SECTOR_HEADER), record, 4);
	check = crc32c(crc32c(check, record + 8, 8), payload->data, payload->size);
	put32(record + 4, check);
	sector_count(pages, at - 1, check);
	bytes_add(&all, first ? head : record, (first ? SECTOR_HEADER : 0) + RECORD_HEAD);
	bytes_add(&all, payload->data, payload->size);
	pages->writing = true;
	result =
		all.failed
			? SQLITE_NOMEM
			: page_log_write(ssl, all.data, all.size,
					 sector_offset(pages, at - 1) + (first ? 0 : sector->used));
	sector->used += RECORD_HEAD + (uint32_t)payload->size;
	ssl->stats.log_bytes += (int64_t)all.size;
	ssl->stats.records++;
	bytes_free(&all);
	return result;
}

static void encode_word(uint8_t *word, uint64_t transaction, const struct tally *has, uint32_t size)
{
	put64(word, transaction);
	put32(word + 8, has->records);
	put32(word + 12, size);
	put32(word + 16, has->checks);
	put32(word + 20, crc32c(0, word, WORD - 4));
}

int page_log_commit(struct ssl *ssl, uint32_t database_size)
{
	int64_t offset = (int64_t)(ssl->log.sequence % 2) * LOG_SLOT + AT_WORD;
	uint8_t word[WORD];
	int result;

	encode_word(word, ssl->log.sequence, &ssl->pages->has, database_size);
	result = page_log_write(ssl, word, sizeof(word), offset);
	if (result == SQLITE_OK)
		result = page_log_persist(ssl);
	if (result == SQLITE_OK) {
		ssl->log.suspect = false;
		ssl->log.appended = 1;
		ssl->stats.log_bytes += WORD;
	}
	return result;
}

void log_confirm(struct log *log)
{
	if (log->appended != 0)
		log->sequence++;
	log->appended = 0;
}

/* The transaction's records may be durable nevertheless; its number is not used again. */
void log_cancel(struct ssl *ssl)
{
	if (ssl->pages == NULL)
		return;
	if (ssl->pages->writing || ssl->log.appended != 0) {
		ssl->log.suspect = true;
		ssl->log.sequence++;
	}
	ssl->pages->writing = false;
	ssl->log.appended = 0;
}

/* Zeroes the headers of the sectors of checkpointed pages. */
static int empty_sectors(struct ssl *ssl, bool really)
{
	static const uint8_t zeros[SECTOR_HEADER];
	struct page_log *pages = ssl->pages;
	int result = SQLITE_OK;

	for (uint32_t i = 0; result == SQLITE_OK && i < ssl->walfile.count; i++) {
		uint32_t at = sector_find(pages, ssl->walfile.pages[i].number);

		if (at != 0 && !really) {
			const struct tally *had = &pages->sectors[at - 1].has;

			pages->of_confirmed.records -= had->records;
			pages->of_confirmed.checks -= had->checks;
		}
		if (at != 0 && really)
			sector_drop(pages, at - 1);
		else if (at != 0 && !(ssl->options.left_out & PPL_NOT_EMPTIED))
			result = page_log_write(ssl, zeros, sizeof(zeros),
						sector_offset(pages, at - 1));
	}
	return result;
}

/* Header and sectors may reach the medium in any order: until the copy to the database is durable,
 * the checkpoint's file shows which pages it has. */
int log_reset(struct ssl *ssl, uint64_t base)
{
	struct page_log *pages = ssl->pages, before = *pages;
	struct log log = ssl->log;
	bool some =
		ssl->walfile.state == WAL_LIVE && ssl->walfile.id == base && !ssl->walfile.whole;
	int64_t offset;
	int result;

	pages->of_confirmed = some ? pages->has : (struct tally){0};
	result = some ? empty_sectors(ssl, false) : SQLITE_OK;
	ssl->log.epoch++;
	ssl->log.base = base;
	ssl->log.suspect = false;
	pages->confirmed = ssl->log.sequence - 1;
	if (!some) {
		pages->floor = ssl->log.epoch;
		if (base != log.base)
			pages->marked = base;
	}
	if (result == SQLITE_OK)
		result = log_header_store(ssl, &offset);
	if (result == SQLITE_OK)
		result = note(ssl, LOG_HEADER, offset);
	if (result == SQLITE_OK)
		result = page_log_persist(ssl);
	if (result != SQLITE_OK) {
		pages->floor = before.floor;
		pages->marked = before.marked;
		pages->confirmed = before.confirmed;
		pages->of_confirmed = before.of_confirmed;
		ssl->log = log;
		return result;
	}
	if (some)
		empty_sectors(ssl, true);
	else
		sectors_clear(pages);
	return SQLITE_OK;
}
