/* What an engine writes to persistent memory, which no block device sees, by transaction. */
#ifndef COMMITPATH_PERSISTENT_H
#define COMMITPATH_PERSISTENT_H

#include <stddef.h>
#include <stdint.h>

/* All so far, which the engine keeps up to date: when a commit returns they are with it. */
struct persistent_writes {
	const char *role; /* of its file in that memory; NULL: there is none */
	int64_t lines, bytes;
};
extern struct persistent_writes persistent_writes;

/* Makes room for so many transactions; without it none is counted. */
void persistent_prepare(size_t transactions);

/* A transaction begins; and number `number` is acknowledged. */
void persistent_begin(void);
void persistent_end(size_t number);

/* Writes persistent.csv, and frees the room; nothing, if there is none. */
void persistent_write(const char *directory, size_t transactions);

#endif
