#ifndef COMMITPATH_RUN_H
#define COMMITPATH_RUN_H

#include "options.h"

/* Runs the workload on the populated database and writes the result files
 * (docs/reference/formats.md, raw/driver). Ends the run on any error. */
void run(const struct options *options);

#endif
