/* Counts the sectors of an engine's files after a power cut that have bytes which the engine never
 * wrote there, by the hashes of all its writes (written.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bytes {
	bool known; /* all files were read, or do not exist */

	/* Sectors that the file never contained there: all zeros, or anything else. */
	uint64_t zero, stale;

	uint64_t ns, reads; /* cost of reading: time, and the device's reads */
};

/* Loads what an engine wrote in the run (written_save); NULL: unknown. */
void bytes_prepare(const char *written);

/* Checks the files. `stats`: the device's counters. Nothing read stays in memory, so that opening
 * the database reads it as usual.
 *
 * A file is identified with one of its earlier lives by its handle; if none or several match, with
 * the one that explains most of its sectors, so that no possibly correct sector is counted. A
 * partial sector at the end is ignored. */
void bytes_look(struct bytes *bytes, const char *stats);
