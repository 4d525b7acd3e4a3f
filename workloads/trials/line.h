/* A line of a plan of trials. */
#ifndef COMMITPATH_LINE_H
#define COMMITPATH_LINE_H

#include <stdint.h>

/* Its hash, FNV-1a, without the line's end: which trial of which plan it is. */
uint64_t line_hash(const char *line);

/* Says its first word, the trial's number, for the host, which then knows in which trial a board
 * died. */
void line_announce(const char *line, const char *path);

#endif
