/* The file that an engine has mapped from persistent memory, as a power cut leaves it: by what the
 * run stored there and cleaned (stored.h). A trial tells it by these words behind those of the
 * device:
 *
 *   calls:N      after the first N of the run's copies, cleans and deletion
 *   lost:L:M     line L of 64 bytes has lost those of its words of 8 bytes that M has a bit for, in
 *                hex digits, the least for the first: they are as they were when they were cleaned
 *   lost:K-L:M   lines K to L, each
 *   there        the deletion is lost */
#ifndef COMMITPATH_LINES_H
#define COMMITPATH_LINES_H

#include <stdbool.h>

/* Reads what the run stored; `written`: the driver's option. Without persistent memory there is
 * nothing to read, and no trial has such words. */
void lines_prepare(const char *written, const char *persistent);

/* What a trial says of it: from the first word on. */
void lines_begin(void);
bool lines_is_word(const char *word);
void lines_word(const char *trial, const char *word);

/* Puts the file there as that trial has it, in the place of what is there; once more, too. */
void lines_show(const char *trial);

#endif
