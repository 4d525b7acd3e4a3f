/* The driver's two commands on databases: `populate` makes them, `run` measures a workload on
 * them. */
#pragma once

#include "options.h"

/* Makes the databases that a run starts from, filled and synced to the device. Each appears under
 * its name when all are complete. Ends the program if one exists already, or on an error. */
void populate(const struct options *options);

/* Runs the workload on the populated database and writes the result files
 * (docs/reference/formats.md, raw/driver). Ends the run on any error. */
void run(const struct options *options);
