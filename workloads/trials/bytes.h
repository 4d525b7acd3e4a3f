/* What the bytes of the engine's files are that came up after a power cut, beside what the engine
 * wrote to them (written.h). */
#ifndef COMMITPATH_BYTES_H
#define COMMITPATH_BYTES_H

#include <stdbool.h>
#include <stdint.h>

struct bytes {
	bool known; /* all files were read, or are not there */
	/* Sectors that the file never had there: all of zeros, or of anything else. */
	uint64_t zero, stale;
	uint64_t ns, reads; /* what reading took of the clock, and of the device */
};

/* Takes in what an engine wrote in the run (written_save); NULL: nothing is known of it. */
void bytes_prepare(const char *written);

/* Looks at the files as they are. `stats`: the device's counters. What is read is not in memory
 * afterwards, so that whoever opens the database reads it as if nobody had.
 *
 * A file is in one of the lives that it had, by its handle; where none has that, or more than one,
 * it is in the one that explains most of its sectors, so that none is counted that may be right. A
 * part of a sector at its end is not looked at. */
void bytes_look(struct bytes *bytes, const char *stats);

#endif
