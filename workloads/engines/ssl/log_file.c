/* Makes, opens and removes the log's file, and writes its header. It has two slots of 512 bytes
 * with a header each, then the log's content, and is filled with zeros when made, so that a commit
 * changes no metadata. The complete header with the larger epoch is valid.
 *
 *   header: 14 bytes of the log's kind, version 16, page size 32, its kind's own 32, identity 64,
 *           epoch 64, base 64, size 64, its kind's own, CRC-32C of that 32
 *
 * The least byte is the first. */
#include <string.h>

#include "state.h"

enum { AT_VERSION = 14, CHUNK = 65536 };

static int flags_of_log(const struct ssl *ssl)
{
	return ssl->options.log_folder == NULL ? file_beside(ssl)
					       : SQLITE_OPEN_READWRITE | SQLITE_OPEN_SUPER_JOURNAL;
}

static void encode_header(const struct ssl *ssl, uint8_t *header)
{
	const struct log *log = &ssl->log;

	memset(header, 0, LOG_HEADER);
	memcpy(header, log_kind.magic, sizeof(log_kind.magic));
	header[AT_VERSION] = log_kind.version;
	put32(header + 16, ssl->page_size);
	put64(header + 24, log->identity);
	put64(header + 32, log->epoch);
	put64(header + 40, log->base);
	put64(header + 48, (uint64_t)log->size);
	log_header_put(ssl, header);
	put32(header + log_kind.header - 4, crc32c(0, header, log_kind.header - 4));
}

static bool header_whole(const uint8_t *header)
{
	return memcmp(header, log_kind.magic, sizeof(log_kind.magic)) == 0 &&
	       get32(header + log_kind.header - 4) == crc32c(0, header, log_kind.header - 4);
}

/* Returns whether a header may be partly written, in units of 8 bytes. */
static bool header_begun(const uint8_t *header)
{
	static const uint8_t zeros[8];

	return (memcmp(header, zeros, 8) == 0 || memcmp(header, log_kind.magic, 8) == 0) &&
	       (memcmp(header + 8, zeros, 8) == 0 ||
		memcmp(header + 8, log_kind.magic + 8, sizeof(log_kind.magic) - 8) == 0);
}

int log_header_store(struct ssl *ssl, int64_t *offset)
{
	uint8_t header[LOG_HEADER];

	*offset = (int64_t)(ssl->log.epoch % 2) * LOG_SLOT;
	encode_header(ssl, header);
	return medium_write(ssl, header, log_kind.header, *offset);
}

int log_header_write(struct ssl *ssl)
{
	int64_t offset;

	TRY(log_header_store(ssl, &offset));
	return medium_persist(ssl, log_kind.header, offset);
}

void log_begin(struct log *log, uint64_t epoch, uint64_t base)
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

static int name_error(const struct ssl *ssl, int result)
{
	return recover_error(ssl, log_kind.name, ssl->log_path, result);
}

int log_create(struct ssl *ssl)
{
	struct log *log = &ssl->log;
	int result;

	log_close(log);
	result = file_open(ssl->log_path, flags_of_log(ssl) | SQLITE_OPEN_CREATE, &log->file);
	if (result != SQLITE_OK)
		return name_error(ssl, result);
	log->size = ssl->options.log_size;
	sqlite3_randomness(sizeof(log->identity), &log->identity);
	log_begin(log, 1, 0);
	result = log_made(ssl);
	if (result == SQLITE_OK)
		result = log->file->pMethods->xTruncate(log->file, 0);
	if (result == SQLITE_OK)
		result = fill(log->file, log->size);
	name_error(ssl, result);
	if (result == SQLITE_OK)
		result = medium_map(ssl);
	ssl->log_made = result == SQLITE_OK;
	if (result == SQLITE_OK)
		return log_header_write(ssl);
	/* it is not in use yet */
	log_remove(ssl);
	return result;
}

/* Decodes the valid header. */
static enum log_state decode(struct ssl *ssl, const uint8_t *header, sqlite3_int64 size,
			     struct error *fault)
{
	struct log *log = &ssl->log;

	if (header[AT_VERSION] != log_kind.version) {
		error_set(fault, "is of version %d, and this reads %d", header[AT_VERSION],
			  log_kind.version);
		return LOG_BAD;
	}
	log->identity = get64(header + 24);
	log->size = (int64_t)get64(header + 48);
	if (size != log->size || size < LOG_LEAST) {
		error_set(fault, "has %lld bytes, and was made with %lld", (long long)size,
			  (long long)log->size);
		return LOG_BAD;
	}
	ssl->page_size = get32(header + 16);
	log_begin(log, get64(header + 32), get64(header + 40));
	return log_header_get(ssl, header, fault) ? LOG_GOOD : LOG_BAD;
}

int log_open(struct ssl *ssl, enum log_state *state, struct error *fault)
{
	uint8_t slots[2][LOG_HEADER] = {0};
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
		result = file_read(ssl->log.file, slots[i], log_kind.header, i * LOG_SLOT);
		/* zeros behind what there is */
		if (result == SQLITE_IOERR_SHORT_READ)
			result = SQLITE_OK;
		if (result == SQLITE_OK && header_whole(slots[i]) &&
		    (best == NULL || get64(slots[i] + 32) > get64(best + 32)))
			best = slots[i];
	}
	if (result != SQLITE_OK)
		return name_error(ssl, result);
	if (best != NULL)
		*state = decode(ssl, best, size, fault);
	else
		*state = header_begun(slots[0]) && header_begun(slots[1]) ? LOG_UNBEGUN : LOG_BAD;
	if (best == NULL && *state == LOG_BAD)
		error_set(fault, "is a file of another kind");
	return *state == LOG_GOOD ? medium_map(ssl) : SQLITE_OK;
}

void log_close(struct log *log)
{
	medium_unmap(log);
	file_close(&log->file);
}

int log_remove(struct ssl *ssl)
{
	ssl->log_made = false;
	log_close(&ssl->log);
	return ssl_wrapped->xDelete(ssl_wrapped, ssl->log_path, 0);
}
