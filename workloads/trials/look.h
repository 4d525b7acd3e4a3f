/* Opens a database that came up again, as an app does, and reads all of it. */
#ifndef COMMITPATH_LOOK_H
#define COMMITPATH_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "board.h"
#include "options.h"
#include "recovered.h"

/* What the process that opens the database leaves; in memory that both have. */
struct looked {
	bool opened, is_read, is_whole;
	uint64_t opened_ns;
	struct board_counts counts; /* when it was opened */
	struct rows rows;
	bool tells; /* of its recovery */
	struct recovery recovery;
	char said[SAID_SIZE];
};

/* Room for what was looked at. */
struct looked *look_prepare(void);

/* Looks, in a process of its own, as a broken database may end that; returns the signal that did, 0
 * for none. `stats`: the device's counters, NULL for none. */
int look(struct looked *looked, const struct options *driver, const char *stats);

/* Makes a text a field of a CSV file. */
void look_field(char *said);

/* Writes the fields `recovery` and `replayed`, each behind a comma. */
void look_recovery(const struct looked *looked, FILE *output);

/* arguments: look run DRIVER-OPTIONS
 *
 * Looks at one database, and prints what it found as a CSV file. */
int look_at(int argc, char **argv);

#endif
