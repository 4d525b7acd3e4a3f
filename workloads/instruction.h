/* Measures the time that the CPU's instruction takes, in ps of CLOCK_MONOTONIC, by a loop of known
 * length; on a board whose clock counts instructions it is the clock's unit. */
#ifndef COMMITPATH_INSTRUCTION_H
#define COMMITPATH_INSTRUCTION_H

#include <stdint.h>

/* Returns the picoseconds of CLOCK_MONOTONIC per instruction, from the fastest of several runs of a
 * loop of known length. If the board's clock counts instructions, this is its unit. -1 on CPUs
 * other than arm64, where the loop's length is unknown. */
int64_t instruction_ps(void);

#endif
