/* Runs the crash trials of a plan file, one a line, which begins with the trial's number, and
 * writes a line of results for each; copies the files of sampled trials, and counts the
 * transactions that a run had begun and acknowledged. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"

struct plan {
	const char *path, *output;
	const char *files;   /* folder for copies of sampled trials' files */
	const char *sampled; /* their numbers, separated by commas; "": none */
};

/* Reads the four from a command line, in that order. */
void plan_take(struct plan *plan, char **argv);

/* Runs each trial. Prints its number first, so that the host knows in which trial a board died.
 * columns: the first line of the output. */
void plan_each(const struct plan *plan, const char *announce, const char *columns,
	       void (*run_trial)(char *line, FILE *output));

/* Returns a line's hash, FNV-1a without the line's end, which identifies the trial and its plan. */
uint64_t plan_hash(const char *line);

/* Returns whether a trial's files are kept for the host. */
bool plan_samples(const struct plan *plan, const char *line);

/* Copies the files of a sampled trial's database, from its folder and persistent memory (names that
 * begin with its own), to a folder named by the trial's number. If one cannot be read, a file
 * `unread` has the reason. */
void plan_keep(const struct plan *plan, const char *line, const struct options *driver);

/* Counts the transactions that a run had begun and acknowledged, from its RECORD_FILE. */
void plan_count(const char *record, int64_t *begun, int64_t *acknowledged);
