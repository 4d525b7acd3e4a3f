/* Records the hash of each sector that an engine writes to its files. trials/bytes.h checks by them
 * whether a recovered file contains anything that was never written.
 *
 * A life of a file begins when it is made, and again when it is truncated to nothing: what was in
 * it before must not be in it any more. Within a life each sector may be what it was after any
 * write, as no write need have reached the device. A part behind the file's end counts as zeros,
 * and so does what the file was extended over. */
#pragma once

#include <stdint.h>
#include <string.h>

/* The size of a device's smallest write (experiments/device/, block_bytes): a cut divides none. */
enum { WRITTEN_SECTOR = 512 };

struct written_file;

/* Start and stop recording. */
void written_begin(void);
void written_end(void);

/* The engine opened a new or existing file; the content of an unknown one is from before the run.
 * Returns NULL if nothing is recorded. */
struct written_file *written_open(const char *path);

/* Record a write and a truncation of an open file; NULL is ignored. */
void written_write(struct written_file *file, const void *bytes, int64_t size, int64_t offset);
void written_truncate(struct written_file *file, int64_t size);

/* Records that a file was deleted. */
void written_delete(const char *path);

/* Ends the recording and writes it to a file: header, names, lives, sectors. */
void written_save(const char *path);

#define WRITTEN_MAGIC UINT64_C(0x314e545449525743) /* CWRITTN1 */

struct written_header {
	uint64_t magic;
	uint32_t names, lives; /* of 512 bytes each, ended by a 0; struct written_life */
	uint64_t sectors;      /* struct written_sector */
};

enum { WRITTEN_NAME = 512 };

struct written_life {
	uint64_t handle; /* a hash of the file's: 0: the filesystem gives none */
	uint64_t name;
};

/* A sector of a file as it was once. */
struct written_sector {
	uint64_t hash;
	uint32_t life, sector;
};

/* Returns a hash of a file's handle, name_to_handle_at(2), by which NFS distinguishes it from an
 * earlier file with its inode; 0: none. With a descriptor other than AT_FDCWD, that file's. */
uint64_t written_handle(int descriptor, const char *path);

/* In few instructions of the board's emulated CPU. */
static inline uint64_t written_hash(const void *sector)
{
	const unsigned char *bytes = sector;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

#pragma GCC unroll 16
	for (int at = 0; at < WRITTEN_SECTOR; at += (int)sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, bytes + at, sizeof(word));
		/* turned, so that what a product moves out at the top comes in again */
		hash = ((hash >> 29 | hash << 35) ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return hash;
}
