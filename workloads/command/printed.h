/* What a command prints: kept up to a limit, and counted. */
#ifndef COMMITPATH_PRINTED_H
#define COMMITPATH_PRINTED_H

#include <stdint.h>

/* Bytes of each of stdout and stderr that are kept; what comes behind is read and thrown away. */
#define PRINTED_MOST (16 * 1024 * 1024)

struct printed {
	int read, write; /* ends of a pipe: the command gets the second */
	int file;
	uint64_t bytes; /* that the command wrote */
};

/* Makes the file and the pipe. Ends the run on an error. */
struct printed printed_begin(const char *directory, const char *name);

/* Reads both pipes until nobody can write into them any more. Ends the run on an error. */
void printed_collect(struct printed printed[2]);

#endif
