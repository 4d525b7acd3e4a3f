/* How long an instruction takes. */
#ifndef COMMITPATH_INSTRUCTION_H
#define COMMITPATH_INSTRUCTION_H

#include <stdint.h>

/* Picoseconds of CLOCK_MONOTONIC that an instruction takes, of a loop of known length: the least of
 * some tries. On a board whose clock counts instructions that is what each of them counts. -1 on
 * another CPU than arm64, where nobody knows how long the loop is. */
int64_t instruction_ps(void);

#endif
