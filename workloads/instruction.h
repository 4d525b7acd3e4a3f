/* Measures the time that the CPU's instruction takes, in ps of CLOCK_MONOTONIC, by a loop of known
 * length; on a board whose clock counts instructions it is the clock's unit. */
#pragma once

#include <stdint.h>

#include "json.h"

/* Writes the member `clock`: both clocks at the begin of the run and, on arm64, the picoseconds of
 * CLOCK_MONOTONIC per instruction, from the fastest of several runs of the loop, of which the
 * length is unknown on other CPUs. */
void instruction_write(struct json *json, uint64_t monotonic_ns, uint64_t realtime_ns);
