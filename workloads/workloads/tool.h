/* Shared by workloads that imitate benchmark tools: their phases insert, update and delete, and the
 * check of --rows for a run that begins with each. */
#pragma once

#include "workload.h"

enum tool_phase { TOOL_INSERT, TOOL_UPDATE, TOOL_DELETE, TOOL_PHASES };

extern const struct workload_phase tool_phases[TOOL_PHASES];

/* A run that begins with inserts begins with no rows; one that begins with
 * updates or deletes has n, as if it had just inserted them. */
void tool_check(const struct options *options, size_t first_phase);
