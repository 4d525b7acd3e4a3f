/* Records an engine's stores to persistent memory, which no block device sees: cache lines and
 * bytes of each transaction, for persistent.csv; and each store to a mapped file, for crash trials.
 * Engines that use none do not call this.
 *
 * With the stores to the mapped file and the lines cleaned, the file can be rebuilt as a power cut
 * after any of these calls leaves it (trials/pmem_lines.h). There is at most one such file. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Starts recording. */
void stored_begin(void);

/* The engine mapped the file with these bytes, all of them durable. */
void stored_open(const char *path, const void *bytes, int64_t size);

/* In that file, bytes were stored; their lines were cleaned; the file was deleted. Deletions of
 * other files are ignored. */
void stored_copy(const void *bytes, int64_t size, int64_t offset);
void stored_clean(int64_t size, int64_t offset);
void stored_delete(const char *path);

/* The run begins: earlier calls are not in the log of calls. */
void stored_run(void);

/* Ends the recording and writes it to a file: the header, the file's bytes when the run began,
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

/* The name in persistent.csv of the engine's file in that memory. The engine sets it when it opens
 * a database; NULL: it has no such file. */
extern const char *persistent_role;

/* Makes room for so many transactions; without it none is recorded. */
void persistent_prepare(size_t transactions);

/* Records what a transaction wrote; an engine calls it at the end of each commit. */
void persistent_note(int64_t lines, int64_t bytes);

/* Writes persistent.csv, if there was room. */
void persistent_write(const char *directory);
