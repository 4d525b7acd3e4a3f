/* The table of mixes of operations: records(id, value). */
#ifndef COMMITPATH_RECORDS_H
#define COMMITPATH_RECORDS_H

#include "workload.h"

extern const struct table records_table;

#endif
