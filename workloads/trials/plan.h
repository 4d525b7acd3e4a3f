/* A plan of trials, and what becomes of each: a line of the plan, whose first word is the trial's
 * number, and a line of the output. */
#ifndef COMMITPATH_PLAN_H
#define COMMITPATH_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"

struct plan {
	const char *path, *output;
	const char *files;   /* folder for what is kept of those that are sampled */
	const char *sampled; /* their numbers, a comma between two; "": none */
};

/* Takes the four from a command line, in that order. */
void plan_take(struct plan *plan, char **argv);

/* Has each trial done, and says its number before, for the host, which then knows in which trial a
 * board died. columns: the first line of the output. */
void plan_each(const struct plan *plan, const char *announce, const char *columns,
	       void (*run_trial)(char *line, FILE *output));

/* A line's hash, FNV-1a, without the line's end: which trial of which plan it is. */
uint64_t plan_hash(const char *line);

/* Whether the host is to look at the files of that trial, too. */
bool plan_samples(const struct plan *plan, const char *line);

/* Keeps the files of a sampled trial's database, those in its folder and in persistent memory whose
 * names begin with its own, as they are: in a folder that is called by the trial's number. Where
 * one cannot be read a file `unread` says why. */
void plan_keep(const struct plan *plan, const char *line, const struct options *driver);

#endif
