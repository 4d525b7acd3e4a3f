/* Records an engine's writes to its files, as a hash of each sector after each write: shows
 * whether a recovered file contains anything that was never written (trials/bytes.h). */
#define _GNU_SOURCE /* name_to_handle_at */
#include "written.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "grow.h"
#include "output.h"

enum { MOST_FILES = 1024, CHUNK = 1 << 16 };

struct written_file {
	char path[WRITTEN_NAME];
	int64_t size;
	uint32_t life;
	bool gone;
	bool is_imaged; /* its bytes are here: not those of a file with content from before */
	unsigned char *image;
	int64_t room; /* of the image; zeros behind the file's end */
};

static struct written_file files[MOST_FILES];
static size_t file_count;
static struct written_life *lives;
static size_t life_count, life_room;
static struct written_sector *sectors;
static size_t sector_count, sector_room;
static bool noting;

static const char what[] = "notes of what the engine wrote";
static const unsigned char zeros[WRITTEN_SECTOR];

static void note(const struct written_file *file, int64_t sector, const void *bytes)
{
	if (sector > UINT32_MAX)
		fail("--written: %s is too large", file->path);
	sectors = grown(sectors, sector_count + 1, &sector_room, sizeof(*sectors), what);
	sectors[sector_count++] = (struct written_sector){
		.hash = written_hash(bytes), .life = file->life, .sector = (uint32_t)sector};
}

static void begin_life(struct written_file *file, uint64_t handle)
{
	lives = grown(lives, life_count + 1, &life_room, sizeof(*lives), what);
	file->life = (uint32_t)life_count;
	lives[life_count++] =
		(struct written_life){.handle = handle, .name = (uint64_t)(file - files)};
}

void written_begin(void)
{
	noting = true;
}

void written_end(void)
{
	noting = false;
}

uint64_t written_handle(int descriptor, const char *path)
{
	union {
		struct file_handle handle;
		unsigned char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} found = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
	/* in the room behind the union's struct, where a compiler sees no member of it */
	const unsigned char *bytes = found.room + offsetof(struct file_handle, f_handle);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int mount;

	if (name_to_handle_at(descriptor, path, &found.handle, &mount,
			      path[0] == '\0' ? AT_EMPTY_PATH : 0) != 0)
		return 0;
	for (unsigned i = 0; i < found.handle.handle_bytes; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Notes what a file has from before. Closing it would drop locks that the process has on it: it is
 * new to the engine, which has none yet. */
static void read_content(struct written_file *file)
{
	unsigned char *chunk = calloc(1, CHUNK);
	int descriptor = open(file->path, O_RDONLY | O_CLOEXEC);

	if (chunk == NULL || descriptor < 0)
		fail("%s: %s", file->path, strerror(errno));
	for (int64_t at = 0; at < file->size; at += CHUNK) {
		int64_t size = file->size - at < CHUNK ? file->size - at : CHUNK;

		for (int64_t done = 0; done < size;) {
			ssize_t got =
				pread(descriptor, chunk + done, (size_t)(size - done), at + done);

			if (got <= 0)
				fail("reading %s: %s", file->path,
				     got < 0 ? strerror(errno) : "it ended");
			done += got;
		}
		memset(chunk + size, 0, (size_t)(CHUNK - size));
		for (int64_t from = 0; from < size; from += WRITTEN_SECTOR)
			note(file, (at + from) / WRITTEN_SECTOR, chunk + from);
	}
	close(descriptor);
	free(chunk);
}

static struct written_file *find(const char *path)
{
	for (size_t i = 0; i < file_count; i++)
		if (strcmp(files[i].path, path) == 0)
			return &files[i];
	return NULL;
}

struct written_file *written_open(const char *path)
{
	struct written_file *file = find(path);
	struct stat status;

	if (!noting)
		return NULL;
	if (file != NULL && !file->gone)
		return file;
	if (stat(path, &status) != 0)
		fail("--written: %s: %s", path, strerror(errno));
	if (file == NULL) {
		if (file_count == MOST_FILES || strlen(path) >= sizeof(file->path))
			fail("--written: more than %d files, or too long a name: %s", MOST_FILES,
			     path);
		file = &files[file_count++];
		snprintf(file->path, sizeof(file->path), "%s", path);
	}
	file->gone = false;
	file->size = (int64_t)status.st_size;
	file->is_imaged = file->size == 0;
	begin_life(file, written_handle(AT_FDCWD, path));
	if (file->size > 0)
		read_content(file);
	return file;
}

/* Makes room in the image for so many bytes, in whole sectors. */
static void make_room(struct written_file *file, int64_t size)
{
	int64_t room = file->room ? file->room : CHUNK;

	if (size <= file->room)
		return;
	while (room < size)
		room *= 2;
	file->image = realloc(file->image, (size_t)room);
	if (file->image == NULL)
		fail("no memory for %s, %lld bytes", file->path, (long long)room);
	memset(file->image + file->room, 0, (size_t)(room - file->room));
	file->room = room;
}

/* Notes sectors as they are in the file: a part of one was written, and the rest is from before.
 * Closing it drops the process's locks on it: LMDB, which does this, has none on this file. */
static void note_read(const struct written_file *file, int64_t first, int64_t behind)
{
	unsigned char sector[WRITTEN_SECTOR];
	int descriptor = open(file->path, O_RDONLY | O_CLOEXEC);

	for (int64_t at = first; at < behind; at++) {
		memset(sector, 0, sizeof(sector));
		if (descriptor < 0 ||
		    pread(descriptor, sector, sizeof(sector), at * WRITTEN_SECTOR) < 0)
			fail("--written: %s: %s", file->path, strerror(errno));
		note(file, at, sector);
	}
	close(descriptor);
}

static int64_t sectors_of(int64_t size)
{
	return (size + WRITTEN_SECTOR - 1) / WRITTEN_SECTOR;
}

/* Notes the zeros that the file is extended over, up to a sector. */
static void note_hole(const struct written_file *file, int64_t behind)
{
	for (int64_t at = sectors_of(file->size); at < behind; at++)
		note(file, at, zeros);
}

void written_write(struct written_file *file, const void *bytes, int64_t size, int64_t offset)
{
	int64_t first = offset / WRITTEN_SECTOR, behind = sectors_of(offset + size);

	if (file == NULL || !noting || size <= 0)
		return;
	note_hole(file, first);
	if (file->is_imaged) {
		make_room(file, behind * WRITTEN_SECTOR);
		memcpy(file->image + offset, bytes, (size_t)size);
		for (int64_t at = first; at < behind; at++)
			note(file, at, file->image + at * WRITTEN_SECTOR);
	} else if (offset % WRITTEN_SECTOR == 0 && size % WRITTEN_SECTOR == 0) {
		for (int64_t at = 0; at < size; at += WRITTEN_SECTOR)
			note(file, first + at / WRITTEN_SECTOR, (const char *)bytes + at);
	} else {
		note_read(file, first, behind);
	}
	if (offset + size > file->size)
		file->size = offset + size;
}

static void cut(struct written_file *file, int64_t size)
{
	if (file->is_imaged && file->size > size)
		memset(file->image + size, 0, (size_t)(file->size - size));
	file->size = size;
}

void written_truncate(struct written_file *file, int64_t size)
{
	if (file == NULL || !noting)
		return;
	if (size == 0 && file->size > 0) {
		cut(file, 0);
		file->is_imaged = true;
		begin_life(file, lives[file->life].handle);
	} else if (size < file->size) {
		cut(file, size);
		if (file->is_imaged && size % WRITTEN_SECTOR != 0)
			note(file, size / WRITTEN_SECTOR,
			     file->image + size / WRITTEN_SECTOR * WRITTEN_SECTOR);
	} else {
		note_hole(file, sectors_of(size));
		if (file->is_imaged)
			make_room(file, sectors_of(size) * WRITTEN_SECTOR);
		file->size = size;
	}
}

void written_delete(const char *path)
{
	struct written_file *file = find(path);

	if (file == NULL || !noting)
		return;
	cut(file, 0);
	file->gone = true;
}

void written_save(const char *path)
{
	FILE *to = fopen(path, "wb");
	struct written_header header = {WRITTEN_MAGIC, (uint32_t)file_count, (uint32_t)life_count,
					sector_count};

	noting = false;
	if (to == NULL)
		fail("%s: %s", path, strerror(errno));
	output_bytes(to, path, &header, sizeof(header));
	for (size_t i = 0; i < file_count; i++)
		output_bytes(to, path, files[i].path, WRITTEN_NAME);
	output_bytes(to, path, lives, life_count * sizeof(*lives));
	output_bytes(to, path, sectors, sector_count * sizeof(*sectors));
	if (fclose(to) != 0)
		fail("%s: %s", path, strerror(errno));
}
