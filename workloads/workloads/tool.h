/* The phases insert, update and delete of the workloads that imitate benchmark tools, and the rows
 * (--rows) that a run that begins with each must find. */
#pragma once

#include "workload.h"

enum tool_phase { TOOL_INSERT, TOOL_UPDATE, TOOL_DELETE, TOOL_PHASES };

extern const struct workload_phase tool_phases[TOOL_PHASES];

/* A run that begins with inserts begins with no rows; one that begins with
 * updates or deletes has n, as if it had just inserted them. */
void tool_check(const struct options *options, size_t first_phase);
