/* The table records(id, value) of the workloads mix and requests, with SQL of each operation. */
#pragma once

#include "workload.h"

extern const struct table records_table;
