/* Appends records to a statement log, reads the valid ones when it is opened, and resets it after
 * a checkpoint. A record is valid while it has the header's epoch and the next number: records
 * left after a reset are not.
 *
 *   header: SQLite's version 32; at 56 whether its records are synced alone, 0, or not, 1 32
 *   record: length of the payload 32, CRC-32C of what follows and that 32, epoch 64,
 *           number 64, payload
 *
 * The least byte is the first (log_file.c has the rest). */
#include "state.h"

enum { RECORD = 24, AT_RELEASE = 20, AT_UNSYNCED = 56 };

const struct log_kind log_kind = {
	.name = "statement log",
	.vfs = "ssl",
	.suffix = "-sla",
	.pages_suffix = "-wal",
	.pages = "WAL",
	.magic = "statement log",
	.version = 2,
	.header = 64,
};

void log_header_put(const struct ssl *ssl, uint8_t *header)
{
	put32(header + AT_RELEASE, (uint32_t)sqlite3_libversion_number());
	put32(header + AT_UNSYNCED, ssl->log.unsynced);
}

bool log_header_get(struct ssl *ssl, const uint8_t *header, struct error *fault)
{
	uint32_t release = get32(header + AT_RELEASE);

	ssl->log.unsynced = get32(header + AT_UNSYNCED) != 0;
	return release == (uint32_t)sqlite3_libversion_number() ||
	       error_set(fault, "is of SQLite %u, and this is %d", release,
			 sqlite3_libversion_number());
}

int log_made(struct ssl *ssl)
{
	ssl->log.unsynced = ssl->options.synchronous == SSL_NORMAL;
	return SQLITE_OK;
}

bool log_used(const struct ssl *ssl)
{
	return ssl->log.suspect || ssl->log.tail > LOG_RECORDS;
}

/* Returns the size of the record at `at` with its payload; 0: none. The study's recovery checks
 * only the checksum. */
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

/* Returns whether a record has a later epoch than the header, which is then an older one. */
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
		if (result == SQLITE_OK && !log->unsynced)
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

/* The record is durable although its transaction was rolled back: the next commit's checkpoint
 * removes it before another record may follow. */
void log_cancel(struct ssl *ssl)
{
	if (ssl->log.appended != 0)
		ssl->log.suspect = true;
	ssl->log.appended = 0;
}

/* After an error either header may be valid; the only permitted action is to repeat it. */
int log_reset(struct ssl *ssl, uint64_t base)
{
	static const uint8_t zeros[RECORD];
	struct log before = ssl->log;
	int64_t offset;
	int result = SQLITE_OK;

	/* the study has no epoch: the log ends at the first invalid record */
	if (ssl->options.recovery == SSL_PAPER)
		result = medium_write(ssl, zeros, RECORD, LOG_RECORDS);
	log_begin(&ssl->log, before.epoch + 1, base);
	ssl->log.unsynced = ssl->options.synchronous == SSL_NORMAL;
	if (result == SQLITE_OK)
		result = (ssl->options.left_out & SSL_RESET_UNSYNCED) == 0
				 ? log_header_write(ssl)
				 : log_header_store(ssl, &offset);
	if (result != SQLITE_OK)
		ssl->log = before;
	return result;
}
