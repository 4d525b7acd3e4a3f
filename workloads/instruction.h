/* Writes the member `clock` of config.json: the run's clocks, and the time of a CPU instruction,
 * measured by a loop of known length. If the board's clock counts instructions, it is its unit. */
#pragma once

#include <stdint.h>

#include "json.h"

/* Both clocks are those at the run's begin. The time is in ps of CLOCK_MONOTONIC, from the fastest
 * of several loops; on CPUs other than arm64 it is left out, as the loop's length is unknown. */
void instruction_write(struct json *json, uint64_t monotonic_ns, uint64_t realtime_ns);
