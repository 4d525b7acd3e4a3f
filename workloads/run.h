/* The driver's two commands on databases: `populate` makes them, `run` measures a workload on
 * them. */
#pragma once

#include "options.h"

/* Makes the database that a run starts from: one large transaction, then synced to the device. The
 * file appears only when complete, and without a journal. Ends the run if it exists already, or on
 * an error. */
void populate(const struct options *options);

/* Runs the workload on the populated database and writes the result files
 * (docs/reference/formats.md, raw/driver). Ends the run on any error. */
void run(const struct options *options);
