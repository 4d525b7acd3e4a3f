/* Empty functions at which an observer's uprobe fires, with the transaction and phase of the
 * driver as arguments, in the first two argument registers. Without a uprobe a call costs a
 * branch. */
#pragma once

#include <stdint.h>

/* Transaction `number` (from 0, over all phases) is about to begin. */
void commitpath_tx_begin(uint64_t number, const char *phase);

/* Transaction `number` has ended. */
void commitpath_tx_end(uint64_t number, const char *phase);

/* A phase begins: warm, those of the workload, close, drain. */
void commitpath_phase(const char *phase);
