/* Opens a database after a crash, as an app does, and reads and checks all of it, in a child
 * process, as a damaged database may hang or end it; writes fields of the result for each kind of
 * crash trial, and all of them for the command `trials look`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "board.h"
#include "options.h"
#include "recovered.h"

/* The results of the process that opens the database, in shared memory. */
struct looked {
	bool opened, is_read, is_whole;
	uint64_t opened_ns;
	struct board_counts counts; /* after opening */
	struct rows rows;
	bool reports; /* it reports on its recovery */
	struct recovery recovery;
	char message[MESSAGE_SIZE];
};

/* Allocates the shared results. */
struct looked *look_prepare(void);

/* Opens and reads in a child process, which a damaged database may end; returns the signal that
 * ended it, or 0. `stats`: the device's counters, or NULL. */
int look(struct looked *looked, const struct options *driver, const char *stats);

/* Writes a text as a field of a CSV file. */
void look_field(char *message);

/* Writes the fields `recovery` and `replayed`, each after a comma. */
void look_recovery(const struct looked *looked, FILE *output);

/* arguments: look run DRIVER-OPTIONS
 *
 * Opens and reads one database, and prints the result as a CSV file. */
int look_at(int argc, char **argv);
