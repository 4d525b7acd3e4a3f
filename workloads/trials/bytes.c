/* Counts the sectors of an engine's files after a power cut that have bytes which the engine never
 * wrote there, by the hashes of all its writes (written.h). */
#define _GNU_SOURCE /* O_DIRECT */
#include "bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board.h"
#include "clock.h"
#include "fail.h"
#include "written.h"

enum { CHUNK = 1 << 18, ALIGNMENT = 4096, NONE = UINT32_MAX };

static struct written_header header;
static char (*names)[WRITTEN_NAME];
static struct written_life *lives;
static struct written_sector *sectors;
/* The last note for each hash, sector and file, in a table of 2^n places; each links to the note of
 * an earlier life. */
static uint32_t *table, *before;
static uint64_t mask;
/* For each life of the file being checked: sectors that it explains, and how many of them are
 * zeros. */
static uint64_t *explained, *explained_zeros;
static unsigned char *chunk;
static uint64_t zeros_hash;

static void *room(uint64_t count, size_t each)
{
	void *memory = calloc(count ? count : 1, each);

	if (memory == NULL)
		fail("no memory for what the engine wrote");
	return memory;
}

/* Returns a sector's place in the table, existing or new. */
static uint32_t *place(uint64_t name, uint64_t sector, uint64_t hash)
{
	uint64_t at = (hash ^ (sector * UINT64_C(0x9e3779b97f4a7c15)) ^ name) & mask;

	for (;; at = (at + 1) & mask) {
		const struct written_sector *one = &sectors[table[at]];

		if (table[at] == NONE ||
		    (one->hash == hash && one->sector == sector && lives[one->life].name == name))
			return &table[at];
	}
}

static void index_sectors(void)
{
	uint64_t places = 1024;

	while (places < header.sectors * 2)
		places *= 2;
	mask = places - 1;
	table = room(places, sizeof(*table));
	before = room(header.sectors, sizeof(*before));
	memset(table, 0xff, places * sizeof(*table));
	for (uint32_t i = 0; i < header.sectors; i++) {
		const struct written_sector *one = &sectors[i];
		uint32_t *last = place(lives[one->life].name, one->sector, one->hash);

		/* a life's notes come before those of the file's next life */
		if (*last != NONE && sectors[*last].life == one->life)
			continue;
		before[i] = *last;
		*last = i;
	}
}

static void get(FILE *from, const char *path, void *bytes, size_t size, uint64_t count)
{
	if (fread(bytes, size, count, from) != count)
		fail("%s ends before its end", path);
}

void bytes_prepare(const char *written)
{
	static const unsigned char zeros[WRITTEN_SECTOR];
	FILE *from;

	if (written == NULL)
		return;
	from = fopen(written, "rb");
	if (from == NULL)
		fail("%s: %s", written, strerror(errno));
	get(from, written, &header, sizeof(header), 1);
	if (header.magic != WRITTEN_MAGIC || header.sectors >= NONE)
		fail("%s is not what an engine wrote", written);
	names = room(header.names, sizeof(*names));
	lives = room(header.lives, sizeof(*lives));
	sectors = room(header.sectors, sizeof(*sectors));
	get(from, written, names, sizeof(*names), header.names);
	get(from, written, lives, sizeof(*lives), header.lives);
	get(from, written, sectors, sizeof(*sectors), header.sectors);
	fclose(from);
	explained = room(header.lives, sizeof(*explained));
	explained_zeros = room(header.lives, sizeof(*explained_zeros));
	chunk = aligned_alloc(ALIGNMENT, CHUNK);
	if (chunk == NULL)
		fail("no memory for what the engine wrote");
	zeros_hash = written_hash(zeros);
	index_sectors();
}

/* Counts for each life whether it explains a sector; returns whether the sector is all zeros. */
static bool look_at_sector(uint32_t name, uint64_t sector, const unsigned char *bytes)
{
	uint64_t hash = written_hash(bytes);
	bool is_zero = hash == zeros_hash;

	for (uint32_t i = *place(name, sector, hash); i != NONE; i = before[i]) {
		explained[sectors[i].life]++;
		explained_zeros[sectors[i].life] += is_zero;
	}
	return is_zero;
}

/* Reads whole sectors of a file, bypassing the page cache if the filesystem can. */
static bool look_at_sectors(int descriptor, uint32_t name, uint64_t count, uint64_t *zero)
{
	memset(explained, 0, header.lives * sizeof(*explained));
	memset(explained_zeros, 0, header.lives * sizeof(*explained_zeros));
	for (uint64_t sector = 0; sector < count;) {
		ssize_t got = pread(descriptor, chunk, CHUNK, (off_t)(sector * WRITTEN_SECTOR));
		uint64_t whole = got < 0 ? 0 : (uint64_t)got / WRITTEN_SECTOR;

		if (whole == 0)
			return false;
		for (uint64_t i = 0; i < whole && sector < count; i++, sector++)
			*zero += look_at_sector(name, sector, chunk + i * WRITTEN_SECTOR);
	}
	return true;
}

static void judge(struct bytes *bytes, uint32_t name, uint64_t handle, uint64_t count,
		  uint64_t zero)
{
	uint64_t best = UINT64_MAX, stale = 0;
	bool is_known = false;

	for (uint32_t i = 0; i < header.lives; i++)
		is_known |= handle != 0 && lives[i].name == name && lives[i].handle == handle;
	for (uint32_t i = 0; i < header.lives; i++) {
		if (lives[i].name != name || (is_known && lives[i].handle != handle) ||
		    count - explained[i] >= best)
			continue;
		best = count - explained[i];
		stale = best - (zero - explained_zeros[i]);
	}
	bytes->stale += stale;
	bytes->zero += best - stale;
}

static bool look_at_file(struct bytes *bytes, uint32_t name, const char *stats)
{
	struct stat status;
	struct board_counts begin, end;
	uint64_t begin_ns, zero = 0, count;
	bool is_read;
	int descriptor = open(names[name], O_RDONLY | O_CLOEXEC | O_DIRECT);

	if (descriptor < 0 && errno == EINVAL)
		descriptor = open(names[name], O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return errno == ENOENT;
	if (fstat(descriptor, &status) != 0)
		fail("%s: %s", names[name], strerror(errno));
	count = (uint64_t)status.st_size / WRITTEN_SECTOR;
	board_counts(stats, &begin);
	begin_ns = clock_now();
	is_read = look_at_sectors(descriptor, name, count, &zero);
	/* if direct reads are not possible */
	posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
	bytes->ns += clock_now() - begin_ns;
	board_counts(stats, &end);
	bytes->reads += end.reads - begin.reads;
	if (is_read)
		judge(bytes, name, written_handle(descriptor, ""), count, zero);
	close(descriptor);
	return is_read;
}

void bytes_look(struct bytes *bytes, const char *stats)
{
	*bytes = (struct bytes){.known = header.names > 0};
	for (uint32_t i = 0; i < header.names; i++)
		bytes->known &= look_at_file(bytes, i, stats);
}
