/* System calls of crash trials: writes to the device's control files, reads its counters, mounts,
 * reads warnings of the kernel log, runs a command such as fsck. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MESSAGE_SIZE = 256 };

/* Writes a text to a file of the kernel; returns 0 or the errno. */
int board_write(const char *path, const char *text);

/* The device's counts since the state was shown. */
struct board_counts {
	uint64_t reads, writes, flushes;
};
void board_counts(const char *path, struct board_counts *counts);

/* Mounts, with options as for mount(8) -o; returns 0 or the errno. */
int board_mount(const char *device, const char *folder, const char *type, const char *options);

/* Returns how many lines of level warning or worse the kernel logged since the last call; the first
 * goes to `message`, unless it has a text. The first call, with NULL, skips earlier lines. */
int board_complaints(char *message);

/* Runs a command, words separated by blanks, without a shell and with its output dropped; returns
 * its exit status, 128 plus the signal that ended it, or -1 if it could not be run. */
int board_run(const char *command);
