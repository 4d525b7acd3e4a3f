#ifndef COMMITPATH_POPULATE_H
#define COMMITPATH_POPULATE_H

#include "options.h"

/* Makes the database that a run starts from: one large transaction, then
 * synced to the device. The file appears only when whole, and without a
 * journal. Ends the run when it is there already, or on an error. */
void populate(const struct options *options);

#endif
