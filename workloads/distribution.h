/* Draws the row that a request of a workload is for, by one of YCSB's distributions (uniform,
 * Zipf's law, latest, hotspot, sequential); and numbers by Zipf's law, for sizes of values. Only
 * IEEE additions, multiplications and divisions are used, so the draws are the same on every CPU
 * and libc, and in model/workloads/_distributions.py. */
#pragma once

#include <stdint.h>

#include "prng.h"

/* Zipf's law over 1 to `count`: the probability of i is in proportion to i^-0.99. */
struct zipf {
	uint64_t count; /* that `top` is for */
	double top;
};

/* Returns a number from 1 to `count`, which is at least 1. A zeroed `zipf` is valid. */
uint64_t zipf_draw(struct zipf *zipf, struct prng *prng, uint64_t count);

/* Distributions of the record that a request is for; record 0 was inserted first. */
enum request_distribution {
	UNIFORM,
	ZIPFIAN,	   /* record i by Zipf's law */
	SCRAMBLED_ZIPFIAN, /* YCSB's: a hash of one of 10^10 items, modulo the records */
	LATEST,		   /* by Zipf's law, the last inserted first */
	HOTSPOT,	   /* 80 % of requests are for the first 20 % of records */
	SEQUENTIAL,	   /* each record in turn */
};

/* Their words, in that order, NULL-terminated. */
extern const char *const request_distributions[];

/* Records that are there: before the run, and now. */
struct records {
	uint64_t before, now;
};

/* Returns the record of a request, 0 if there are none. `number`: of the request, from 0. */
uint64_t distribution_draw(enum request_distribution distribution, struct zipf *zipf,
			   struct prng *prng, struct records records, uint64_t number);
