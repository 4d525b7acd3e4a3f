/* The start times of transactions. */
#ifndef COMMITPATH_PACE_H
#define COMMITPATH_PACE_H

#include <stddef.h>
#include <stdint.h>

#include "workload.h"

/* Values of --pace-ns other than an interval in ns. */
enum { PACE_RECORDED = -1, PACE_NONE = 0 };

/* Sleeps until transaction `number` of the run, which the generator made last, is due: so long
 * after `first_ns`, the start of the run's first one, as --pace-ns says. Returns at once where that
 * is in the past, and for the first. */
void pace_wait(const struct generator *generator, size_t number, uint64_t first_ns);

#endif
