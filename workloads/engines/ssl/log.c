/* The statement log's file: two slots of 512 bytes with a header each, then records; all of it
 * written with zeros when it is made, so that a commit changes no metadata. Of the headers the one
 * that is whole and has the larger epoch counts. A record is of the log while it has the header's
 * epoch and the next number: what a reset leaves behind it is none.
 *
 *   header: 14 bytes "statement log", version 16, page size 32, SQLite's version 32, identity 64,
 *           epoch 64, base 64, size 64, 0 32, CRC-32C of that 32
 *   record: length of the payload 32, CRC-32C of what follows and that 32, epoch 64, number 64,
 * payload
 *
 * The least byte is the first. */
#include <string.h>

#include "medium.h"

enum { VERSION = 1, RECORD = 24, AT_VERSION = 14, AT_CHECK = 60, CHUNK = 65536 };
static const char magic[AT_VERSION] = "statement log";

/* A WAL is beside its database, whose mode it gets: SQLite's VFS looks for that. */
static int flags_of_log(const struct ssl *ssl)
{
	return SQLITE_OPEN_READWRITE |
	       (ssl->options.log_folder == NULL ? SQLITE_OPEN_WAL : SQLITE_OPEN_SUPER_JOURNAL);
}

static void encode_header(const struct ssl *ssl, uint8_t *header)
{
	const struct log *log = &ssl->log;

	memset(header, 0, LOG_HEADER);
	memcpy(header, magic, sizeof(magic));
	header[AT_VERSION] = VERSION;
	put32(header + 16, ssl->page_size);
	put32(header + 20, (uint32_t)sqlite3_libversion_number());
	put64(header + 24, log->identity);
	put64(header + 32, log->epoch);
	put64(header + 40, log->base);
	put64(header + 48, (uint64_t)log->size);
	put32(header + AT_CHECK, crc32c(0, header, AT_CHECK));
}

static bool header_whole(const uint8_t *header)
{
	return memcmp(header, magic, sizeof(magic)) == 0 &&
	       get32(header + AT_CHECK) == crc32c(0, header, AT_CHECK);
}

static int write_header(struct ssl *ssl)
{
	uint8_t header[LOG_HEADER];
	int64_t offset = (int64_t)(ssl->log.epoch % 2) * LOG_SLOT;
	int result;

	encode_header(ssl, header);
	result = medium_write(ssl, header, LOG_HEADER, offset);
	return result == SQLITE_OK ? medium_persist(ssl, LOG_HEADER, offset) : result;
}

static void begin_epoch(struct log *log, uint64_t epoch, uint64_t base)
{
	log->epoch = epoch;
	log->base = base;
	log->tail = LOG_RECORDS;
	log->appended = 0;
	log->sequence = 1;
	log->suspect = false;
}

static int fill(sqlite3_file *file, int64_t size)
{
	static const uint8_t zeros[CHUNK];
	int result = SQLITE_OK;

	for (int64_t at = 0; result == SQLITE_OK && at < size; at += CHUNK)
		result = file_write(file, zeros, size - at < CHUNK ? size - at : CHUNK, at);
	if (result == SQLITE_OK)
		result = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
	return result;
}

int log_create(struct ssl *ssl)
{
	struct log *log = &ssl->log;
	int result;

	log_close(log);
	result = file_open(ssl->log_path, flags_of_log(ssl) | SQLITE_OPEN_CREATE, &log->file);
	if (result != SQLITE_OK)
		return result;
	log->size = ssl->options.log_size;
	sqlite3_randomness(sizeof(log->identity), &log->identity);
	begin_epoch(log, 1, 0);
	result = log->file->pMethods->xTruncate(log->file, 0);
	if (result == SQLITE_OK)
		result = fill(log->file, log->size);
	if (result != SQLITE_OK)
		return result;
	result = medium_map(ssl);
	if (result == SQLITE_OK)
		return write_header(ssl);
	/* nothing counts on it yet */
	log_close(log);
	ssl_wrapped->xDelete(ssl_wrapped, ssl->log_path, 0);
	return result;
}

/* What the better header says. */
static enum log_state decode(struct ssl *ssl, const uint8_t *header, sqlite3_int64 size,
			     struct error *said)
{
	struct log *log = &ssl->log;
	enum log_state bad = LOG_BAD;

	if (header[AT_VERSION] != VERSION) {
		error_set(said, "is of version %d, and this reads %d", header[AT_VERSION], VERSION);
		return bad;
	}
	if (get32(header + 20) != (uint32_t)sqlite3_libversion_number()) {
		error_set(said, "is of SQLite %u, and this is %d", get32(header + 20),
			  sqlite3_libversion_number());
		return bad;
	}
	log->identity = get64(header + 24);
	log->size = (int64_t)get64(header + 48);
	if (size != log->size) {
		error_set(said, "has %lld bytes, and was made with %lld", (long long)size,
			  (long long)log->size);
		return bad;
	}
	ssl->page_size = get32(header + 16);
	begin_epoch(log, get64(header + 32), get64(header + 40));
	return LOG_GOOD;
}

int log_open(struct ssl *ssl, enum log_state *state, struct error *said)
{
	uint8_t slots[2][LOG_HEADER];
	const uint8_t *best = NULL;
	sqlite3_int64 size;
	int there, result;

	*state = LOG_ABSENT;
	result = ssl_wrapped->xAccess(ssl_wrapped, ssl->log_path, SQLITE_ACCESS_EXISTS, &there);
	if (result != SQLITE_OK || !there)
		return result;
	result = file_open(ssl->log_path, flags_of_log(ssl), &ssl->log.file);
	if (result == SQLITE_OK)
		result = ssl->log.file->pMethods->xFileSize(ssl->log.file, &size);
	for (int i = 0; result == SQLITE_OK && i < 2; i++) {
		result = file_read(ssl->log.file, slots[i], LOG_HEADER, i * LOG_SLOT);
		if (result == SQLITE_IOERR_SHORT_READ) {
			memset(slots[i], 0, LOG_HEADER);
			result = SQLITE_OK;
		}
		if (result == SQLITE_OK && header_whole(slots[i]) &&
		    (best == NULL || get64(slots[i] + 32) > get64(best + 32)))
			best = slots[i];
	}
	if (result != SQLITE_OK)
		return result;
	*state = best != NULL ? decode(ssl, best, size, said) : LOG_UNBEGUN;
	return *state == LOG_GOOD ? medium_map(ssl) : SQLITE_OK;
}

/* The size of the record at `at` with its payload; 0: there is none. The study's recovery looks at
 * the checksum alone. */
static int64_t record_at(const struct ssl *ssl, const uint8_t *all, int64_t at, uint64_t sequence)
{
	const uint8_t *record = all + at;
	int64_t length;
	uint32_t check;

	if (ssl->log.size - at < RECORD)
		return 0;
	length = get32(record);
	if (length == 0 || length > ssl->log.size - at - RECORD)
		return 0;
	check = crc32c(0, record, 4);
	check = crc32c(check, record + 8, (size_t)(RECORD - 8 + length));
	if (check != get32(record + 4))
		return 0;
	if (ssl->options.recovery == SSL_IDS &&
	    (get64(record + 8) != ssl->log.epoch || get64(record + 16) != sequence))
		return 0;
	return RECORD + length;
}

/* Whether a record is of an epoch that the header has not come to: the header is an older one. */
static bool later_epoch(struct ssl *ssl, const uint8_t *all)
{
	uint64_t epoch = get64(all + LOG_RECORDS + 8);
	struct log before = ssl->log;
	bool later;

	if (ssl->options.recovery != SSL_IDS || epoch <= before.epoch)
		return false;
	ssl->log.epoch = epoch;
	later = record_at(ssl, all, LOG_RECORDS, 1) > 0;
	ssl->log = before;
	return later;
}

int log_records(struct ssl *ssl, struct bytes *records, int64_t *count)
{
	struct log *log = &ssl->log;
	uint8_t *all = sqlite3_malloc64((sqlite3_uint64)log->size);
	int64_t size;
	int result;

	*count = 0;
	bytes_clear(records);
	if (all == NULL)
		return SQLITE_NOMEM;
	result = file_read(log->file, all, log->size, 0);
	if (result == SQLITE_OK && later_epoch(ssl, all))
		result = SQLITE_CORRUPT;
	while (result == SQLITE_OK && (size = record_at(ssl, all, log->tail, log->sequence)) > 0) {
		bytes_add(records, all + log->tail, 4);
		bytes_add(records, all + log->tail + RECORD, (size_t)size - RECORD);
		log->tail += size;
		log->sequence++;
		++*count;
	}
	sqlite3_free(all);
	return records->failed ? SQLITE_NOMEM : result;
}

bool log_fits(const struct log *log, size_t payload)
{
	return payload > 0 && (int64_t)payload <= log->size - log->tail - RECORD;
}

int log_append(struct ssl *ssl, const struct bytes *payload)
{
	struct log *log = &ssl->log;
	struct bytes record = {0};
	uint8_t head[RECORD];
	int result;

	put32(head, (uint32_t)payload->size);
	put64(head + 8, log->epoch);
	put64(head + 16, log->sequence);
	put32(head + 4, crc32c(crc32c(crc32c(0, head, 4), head + 8, RECORD - 8), payload->data,
			       payload->size));
	bytes_add(&record, head, RECORD);
	bytes_add(&record, payload->data, payload->size);
	result = record.failed ? SQLITE_NOMEM : SQLITE_OK;
	if (result == SQLITE_OK) {
		/* from here on some of it may be durable */
		log->suspect = true;
		result = medium_write(ssl, record.data, record.size, log->tail);
		if (result == SQLITE_OK)
			result = medium_persist(ssl, record.size, log->tail);
	}
	if (result == SQLITE_OK) {
		log->suspect = false;
		log->appended = log->tail + (int64_t)record.size;
		ssl->stats.log_bytes += (int64_t)record.size;
	}
	bytes_free(&record);
	return result;
}

void log_confirm(struct log *log)
{
	if (log->appended == 0)
		return;
	log->tail = log->appended;
	log->appended = 0;
	log->sequence++;
}

/* The record is durable, and its transaction was rolled back all the same: no other may come after
 * it before it is gone, which the next commit's checkpoint sees to. */
void log_cancel(struct ssl *ssl)
{
	if (ssl->log.appended != 0)
		ssl->log.suspect = true;
	ssl->log.appended = 0;
}

/* False leaves it open which of the two headers counts; to do it again is all that may be done. */
int log_reset(struct ssl *ssl, uint64_t base)
{
	static const uint8_t zeros[RECORD];
	struct log before = ssl->log;
	int result = SQLITE_OK;

	/* the study has no epoch: the first record's end is the log's */
	if (ssl->options.recovery == SSL_PAPER)
		result = medium_write(ssl, zeros, RECORD, LOG_RECORDS);
	begin_epoch(&ssl->log, before.epoch + 1, base);
	if (result == SQLITE_OK)
		result = write_header(ssl);
	if (result != SQLITE_OK)
		ssl->log = before;
	return result;
}

void log_close(struct log *log)
{
	medium_unmap(log);
	file_close(&log->file);
}
