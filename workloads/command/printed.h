/* Collects what a command prints to stdout and stderr, through pipes: stores the first 16 MiB of
 * each in a file, and counts all bytes. */
#pragma once

#include <stdint.h>

/* Bytes of stdout and of stderr that are stored; the rest is read and dropped. */
#define PRINTED_MOST (16 * 1024 * 1024)

struct printed {
	int read, write; /* ends of a pipe: the command gets the second */
	int file;
	uint64_t bytes; /* written by the command */
};

/* Makes the file and the pipe. Ends the run on an error. */
struct printed printed_begin(const char *directory, const char *name);

/* Reads both pipes until no process can write to them. Ends the run on an error. */
void printed_collect(struct printed printed[2]);
