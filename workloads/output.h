/* Writes a run's result files under a temporary name until they are complete, so that each is
 * complete or absent; removes those of an earlier run, and appends lines to a console or file. */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* Makes the folder if it is missing and removes result files of an earlier
 * run from it, so that a failed run leaves none but acknowledged.bin. Fails the run on an error. */
void output_prepare(const char *directory);

/* The record of a run's transactions while it runs (record.h). */
#define RECORD_FILE "acknowledged.bin"

/* Writes the path of a result file, of at most PATH_MAX bytes. Fails the run when it is longer. */
void output_path(char *path, const char *directory, const char *name);

/* Opens `directory/name` for writing under a temporary name. One file at a
 * time. Fails the run on an error. */
FILE *output_open(const char *directory, const char *name);

/* Writes bytes to the file of that path; `bytes` may be NULL of none. Fails the run on an error. */
void output_bytes(FILE *file, const char *path, const void *bytes, size_t size);

/* Writes a number in decimal digits. A log has a hundred thousand of them, and with printf it
 * takes nearly twice the instructions of the board's emulated CPU. */
void output_number(FILE *file, int64_t number);

/* Closes the open file and gives it its name. Fails the run if any write to
 * it failed. */
void output_commit(FILE *file);

/* Removes the temporary file, if one is open. Never fails. */
void output_abandon(void);

/* Adds a line to a file, at once; NULL: to none. Fails the run on an error. */
void output_say(const char *path, const char *line);
