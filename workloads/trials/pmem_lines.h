/* Parses a crash trial's words for persistent memory, and rebuilds the file that an engine maps
 * from it as that power cut leaves it, from the run's stores and cleaned lines (stored.h). These
 * words follow those for the device:
 *
 *   calls:N      after the first N of the run's copies, cleans and deletion
 *   lost:L:M     line L of 64 bytes has lost the 8-byte words with bits in M, in hex digits, the
 *                lowest bit for the first: they are as last cleaned
 *   lost:K-L:M   the same for lines K to L
 *   there        the deletion is lost */
#pragma once

#include <stdbool.h>

/* Reads what the run stored; `written`: the driver's option. Without persistent memory there is
 * nothing to read, and no trial has such words. */
void lines_prepare(const char *written, const char *persistent);

/* Parses a trial's words, from the first on. */
void lines_begin(void);
bool lines_is_word(const char *word);
void lines_word(const char *trial, const char *word);

/* Writes the file as that trial has it, replacing the current one; may be repeated. */
void lines_show(const char *trial);
