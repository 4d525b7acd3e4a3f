/* What a trial does to the board: device, filesystem, kernel's log, programs. */
#ifndef COMMITPATH_BOARD_H
#define COMMITPATH_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAID_SIZE = 256 };

/* Writes a text to a file of the kernel's; 0 or the errno. */
int board_write(const char *path, const char *text);

/* What the device counted since the state was shown. */
struct board_counts {
	uint64_t reads, writes, flushes;
};
void board_counts(const char *path, struct board_counts *counts);

/* Mounts, with the options that mount(8) takes behind -o; 0 or the errno. */
int board_mount(const char *device, const char *folder, const char *type, const char *options);

/* What the kernel said since the last call with a level of warning or worse: how many lines; the
 * first goes to `said`, unless it has a text. Called once with NULL it begins with what comes then.
 */
int board_complaints(char *said);

/* Runs a command, words separated by blanks, without a shell and without a word of it; its exit
 * status, 128 and the signal that ended it, or -1 where it could not be run. */
int board_run(const char *command);

#endif
