/* Empty functions that a uprobe can hang on: they tell an observer which
 * transaction and phase the driver is in. A call costs a branch when nobody
 * watches. Their arguments are in the first two argument registers. */
#pragma once

#include <stdint.h>

/* Transaction `number` (from 0, over all phases) is about to begin. */
void commitpath_tx_begin(uint64_t number, const char *phase);

/* Transaction `number` has ended. */
void commitpath_tx_end(uint64_t number, const char *phase);

/* A phase begins: warm, those of the workload, close, drain. */
void commitpath_phase(const char *phase);
