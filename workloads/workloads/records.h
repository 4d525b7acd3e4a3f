/* The table of mixes of operations: records(id, value). */
#pragma once

#include "workload.h"

extern const struct table records_table;
