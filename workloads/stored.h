/* What an engine stored in a file that it has mapped from persistent memory, and which of it it
 * cleaned: with it the file can be made again as a power cut leaves it after any of these calls
 * (trials/lines.h). There is at most one such file. */
#ifndef COMMITPATH_STORED_H
#define COMMITPATH_STORED_H

#include <stdint.h>

/* From now on all is noted. */
void stored_begin(void);

/* The engine mapped the file, whose bytes are these, none of them in a cache alone. */
void stored_open(const char *path, const void *bytes, int64_t size);

/* Of that file: bytes were stored; the lines that they lie in were cleaned; it was deleted. A file
 * that is deleted and is not that one is none of this. */
void stored_copy(const void *bytes, int64_t size, int64_t offset);
void stored_clean(int64_t size, int64_t offset);
void stored_delete(const char *path);

/* The run's calls begin: those of before are in no log of calls. */
void stored_run(void);

/* Writes what was noted to a file, and forgets it: the header, the file's bytes when the run began,
 * and each call with the bytes that it stored. Nothing, where no file was mapped. */
void stored_save(const char *path);

#define STORED_MAGIC UINT64_C(0x31524f5453575043) /* CPWSTOR1 */

enum { STORED_NAME = 512 };

struct stored_header {
	uint64_t magic, size, calls, bytes; /* of the file; how many; that they stored, together */
	char path[STORED_NAME];
};

enum stored_kind { STORED_COPY, STORED_CLEAN, STORED_DELETE };

struct stored_call {
	uint64_t kind, offset, size;
};

#endif
