/* Writes the WAL's file in a checkpoint, reads it back and copies it to the database; reads and
 * writes the mark in page 1 that names the log and the checkpoint. The file has the last committed
 * version of each page (in a merge of SQLite/PPL: of the pages of a transaction) as one
 * transaction, ordered by page. It is a valid SQLite WAL; the checkpoint number in its header is
 * the checkpoint's id.
 *
 * Page 1, which only a merge may lack, has a mark in reserved bytes (fileformat2.html, 1.3): the
 * log's identity and the id. With the mark the header's format versions are 3, so that SQLite
 * without this module does not open it. SQLite above the VFS sees neither. */
#include <stdlib.h>
#include <string.h>

#include "state.h"

enum {
	MAGIC = 0x377f0682, /* checksums of little-endian words */
	WAL_VERSION = 3007000,
	AT_VERSIONS = 18,
	UNAWARE_REFUSES = 3, /* 1: rollback journal, 2: WAL */
	AT_MARK = 72,
	MARK = 20,
};

static uint32_t mark_check(const uint8_t *mark)
{
	return crc32c(0, mark, MARK - 4);
}

void mark_put(uint8_t *page, uint64_t identity, uint64_t id)
{
	uint8_t *mark = page + AT_MARK;

	memset(page + AT_VERSIONS, UNAWARE_REFUSES, 2);
	put64(mark, identity);
	put64(mark + 8, id);
	put32(mark + 16, mark_check(mark));
}

bool mark_get(const uint8_t *page, uint64_t *identity, uint64_t *id)
{
	const uint8_t *mark = page + AT_MARK;

	*identity = get64(mark);
	*id = get64(mark + 8);
	return mark_any(page) && get32(mark + 16) == mark_check(mark);
}

bool mark_any(const uint8_t *page)
{
	return page[AT_VERSIONS] == UNAWARE_REFUSES && page[AT_VERSIONS + 1] == UNAWARE_REFUSES;
}

void mark_hide(uint8_t *page)
{
	memset(page + AT_VERSIONS, 2, 2);
	memset(page + AT_MARK, 0, MARK);
}

static void checksum(const uint8_t *data, size_t size, uint32_t sum[2])
{
	for (size_t i = 0; i < size; i += 8) {
		sum[0] += get32(data + i) + sum[1];
		sum[1] += get32(data + i + 4) + sum[0];
	}
}

void walfile_free(struct walfile *walfile)
{
	sqlite3_free(walfile->pages);
	*walfile = (struct walfile){0};
}

static int64_t frame_offset(const struct walfile *walfile, uint32_t frame)
{
	return WAL_HEADER + (int64_t)frame * (FRAME_HEADER + walfile->page_size);
}

/* Reads the header. */
static int read_header(sqlite3_file *file, struct walfile *found, uint8_t *header, uint32_t sum[2])
{
	static const uint8_t zeros[WAL_HEADER];
	uint8_t begin[8];
	sqlite3_int64 size;
	int result = file->pMethods->xFileSize(file, &size);

	found->state = WAL_RESET;
	if (result != SQLITE_OK || size == 0)
		return result;
	put32be(begin, MAGIC);
	put32be(begin + 4, WAL_VERSION);
	memset(header, 0, WAL_HEADER);
	TRY(file_read(file, header, size < WAL_HEADER ? size : WAL_HEADER, 0));
	found->other = memcmp(header, zeros, sizeof(begin)) != 0 &&
		       memcmp(header, begin, size < 8 ? (size_t)size : sizeof(begin)) != 0;
	checksum(header, WAL_HEADER - 8, sum);
	found->page_size = get32be(header + 8);
	found->id = get32be(header + 12);
	found->salt = get32(header + 16);
	found->state = WAL_TORN;
	if (size < WAL_HEADER)
		return SQLITE_OK;
	if (memcmp(header, zeros, WAL_HEADER) == 0)
		found->state = WAL_RESET;
	else if (memcmp(header, begin, sizeof(begin)) == 0 && sum[0] == get32be(header + 24) &&
		 sum[1] == get32be(header + 28) && found->page_size >= 512 &&
		 found->page_size <= 65536)
		found->state = WAL_LIVE;
	return SQLITE_OK;
}

static int add_page(struct walfile *found, uint32_t number)
{
	void *pages = found->pages;

	if ((found->count & (found->count - 1)) == 0)
		pages = sqlite3_realloc64(found->pages, (found->count > 0 ? found->count : 1) * 2 *
								sizeof(*found->pages));
	if (pages == NULL)
		return SQLITE_NOMEM;
	found->pages = pages;
	found->pages[found->count] = (struct wal_page){number, found->count};
	found->count++;
	return SQLITE_OK;
}

/* Reads frames up to the one that ends the transaction; otherwise the file is empty. */
static int read_frames(sqlite3_file *file, struct walfile *found, const uint8_t *salt,
		       uint32_t sum[2], uint8_t *frame)
{
	for (;;) {
		int result = file_read(file, frame, FRAME_HEADER + found->page_size,
				       frame_offset(found, found->count));

		if (result == SQLITE_IOERR_SHORT_READ)
			return SQLITE_OK;
		if (result != SQLITE_OK)
			return result;
		checksum(frame, 8, sum);
		checksum(frame + FRAME_HEADER, found->page_size, sum);
		if (get32be(frame) == 0 || memcmp(frame + 8, salt, 8) != 0 ||
		    sum[0] != get32be(frame + 16) || sum[1] != get32be(frame + 20))
			return SQLITE_OK;
		if (get32be(frame) == 1) {
			uint64_t id;

			if (!mark_get(frame + FRAME_HEADER, &found->identity, &id))
				found->identity = 0;
			else if ((uint32_t)id == (uint32_t)found->id)
				found->whole = true;
			if (found->whole)
				found->id = id;
		}
		TRY(add_page(found, get32be(frame)));
		found->database_size = get32be(frame + 4);
		if (found->database_size != 0) {
			found->state = WAL_LIVE;
			return SQLITE_OK;
		}
	}
}

int walfile_read(sqlite3_file *file, struct walfile *found)
{
	uint8_t header[WAL_HEADER], *frame;
	uint32_t sum[2] = {0, 0};
	int result;

	walfile_free(found);
	result = read_header(file, found, header, sum);
	if (result != SQLITE_OK || found->state != WAL_LIVE)
		return result;
	found->state = WAL_TORN;
	frame = sqlite3_malloc64(FRAME_HEADER + found->page_size);
	if (frame == NULL)
		return SQLITE_NOMEM;
	result = read_frames(file, found, header + 16, sum, frame);
	sqlite3_free(frame);
	return result;
}

static int by_number(const void *left, const void *right)
{
	const struct wal_page *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

int walfile_collect(struct ssl *ssl, uint32_t first, uint32_t frames, struct walfile *made)
{
	const struct memory *memory = &ssl->memory;
	uint32_t kept = 0;

	made->database_size = frame_size(&memory->frames[frames - 1]);
	made->pages = sqlite3_malloc64((frames - first + 1) * sizeof(*made->pages));
	if (made->pages == NULL)
		return SQLITE_NOMEM;
	if (made->whole)
		made->pages[made->count++] = (struct wal_page){1, 0};
	for (uint32_t number = first + 1; number <= frames; number++) {
		const struct frame *frame = &memory->frames[number - 1];

		if (frame->page != NULL && !frame->merged &&
		    frame_page(frame) <= made->database_size)
			made->pages[made->count++] = (struct wal_page){frame_page(frame), number};
	}
	qsort(made->pages, made->count, sizeof(*made->pages), by_number);
	for (uint32_t i = 0; i < made->count; i++)
		if (i + 1 == made->count || made->pages[i].number != made->pages[i + 1].number)
			made->pages[kept++] = made->pages[i];
	made->count = kept;
	return SQLITE_OK;
}

static int write_frames(struct ssl *ssl, struct walfile *made, const uint8_t *header,
			uint32_t sum[2], uint8_t *frame)
{
	for (uint32_t i = 0; i < made->count; i++) {
		struct wal_page *page = &made->pages[i];
		uint8_t *data = frame + FRAME_HEADER;
		int result = SQLITE_OK;

		if (page->frame > 0)
			memcpy(data, ssl->memory.frames[page->frame - 1].page, made->page_size);
		else
			result = file_read(ssl->database, data, made->page_size, 0);
		if (result != SQLITE_OK)
			return result;
		if (page->number == 1)
			mark_put(data, ssl->log.identity, made->mark);
		put32be(frame, page->number);
		put32be(frame + 4, i + 1 == made->count ? made->database_size : 0);
		memcpy(frame + 8, header + 16, 8);
		checksum(frame, 8, sum);
		checksum(data, made->page_size, sum);
		put32be(frame + 16, sum[0]);
		put32be(frame + 20, sum[1]);
		TRY(file_write(ssl->wal, frame, FRAME_HEADER + made->page_size,
			       frame_offset(made, i)));
		page->frame = i;
		ssl->stats.wal_pages++;
	}
	return SQLITE_OK;
}

struct walfile walfile_next(const struct ssl *ssl)
{
	uint64_t id = ssl->log.base + 1;

	return (struct walfile){.id = id,
				.mark = id,
				.identity = ssl->log.identity,
				.whole = true,
				.page_size = ssl->page_size};
}

int walfile_write(struct ssl *ssl, struct walfile made)
{
	uint8_t header[WAL_HEADER], *frame = sqlite3_malloc64(FRAME_HEADER + made.page_size);
	uint32_t sum[2] = {0, 0};
	int result = frame != NULL ? SQLITE_OK : SQLITE_NOMEM;

	put32be(header, MAGIC);
	put32be(header + 4, WAL_VERSION);
	put32be(header + 8, made.page_size);
	put32be(header + 12, (uint32_t)made.id);
	sqlite3_randomness(8, header + 16);
	if (log_kind.salted)
		put32(header + 16, (uint32_t)made.identity);
	checksum(header, WAL_HEADER - 8, sum);
	put32be(header + 24, sum[0]);
	put32be(header + 28, sum[1]);
	if (result == SQLITE_OK)
		result = file_write(ssl->wal, header, WAL_HEADER, 0);
	if (result == SQLITE_OK)
		result = write_frames(ssl, &made, header, sum, frame);
	if (result == SQLITE_OK) {
		ssl->stats.wal_syncs++;
		result = ssl->wal->pMethods->xSync(ssl->wal, SQLITE_SYNC_NORMAL);
	}
	sqlite3_free(frame);
	walfile_free(&ssl->walfile);
	made.state = result == SQLITE_OK ? WAL_LIVE : WAL_TORN;
	ssl->walfile = made;
	/* A failed write must not be found later, even if it is complete. */
	if (result != SQLITE_OK)
		ssl->wal->pMethods->xTruncate(ssl->wal, 0);
	return result;
}

/* Copies the file's pages to the database, and syncs that. */
int walfile_apply(struct ssl *ssl)
{
	struct walfile *walfile = &ssl->walfile;
	int64_t size = (int64_t)walfile->database_size * walfile->page_size;
	uint8_t *page = sqlite3_malloc64(walfile->page_size);
	sqlite3_int64 had;
	int result = page != NULL ? SQLITE_OK : SQLITE_NOMEM;

	for (uint32_t i = 0; result == SQLITE_OK && i < walfile->count; i++) {
		const struct wal_page *from = &walfile->pages[i];

		result = file_read(ssl->wal, page, walfile->page_size,
				   frame_offset(walfile, from->frame) + FRAME_HEADER);
		if (result == SQLITE_OK)
			result = file_write(ssl->database, page, walfile->page_size,
					    (int64_t)(from->number - 1) * walfile->page_size);
		ssl->stats.database_pages++;
	}
	sqlite3_free(page);
	if (result == SQLITE_OK)
		result = ssl->database->pMethods->xFileSize(ssl->database, &had);
	if (result == SQLITE_OK && had != size)
		result = ssl->database->pMethods->xTruncate(ssl->database, size);
	if (result == SQLITE_OK) {
		ssl->stats.database_syncs++;
		result = ssl->database->pMethods->xSync(ssl->database, SQLITE_SYNC_NORMAL);
	}
	return result;
}

/* Marks the file as copied. Not synced: copying it again changes nothing. After a failure it may
 * still be found live, so that no atomic checkpoint may follow. */
int walfile_reset(struct ssl *ssl)
{
	static const uint8_t zeros[WAL_HEADER];
	int result = file_write(ssl->wal, zeros, WAL_HEADER, 0);

	walfile_free(&ssl->walfile);
	ssl->walfile.state = result == SQLITE_OK ? WAL_RESET : WAL_TORN;
	ssl->walfile.unsynced = true;
	return result;
}
