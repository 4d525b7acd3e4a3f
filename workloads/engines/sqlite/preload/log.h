/* Maps the shared log of a command's transactions (transactions.h) in a process of the command,
 * adds paths of databases to it, and provides the lock of the preload's state. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "transactions.h"

/* NULL until can_note or preload_log, and without a log, where nothing is recorded. */
extern struct transaction_log *transaction_log;

/* One lock for the preload's whole state; a child of fork() finds it free. */
void lock_all(void);
void unlock_all(void);

/* Returns whether transactions can be recorded: not in another PID namespace, where thread numbers
 * differ from the observers' and would be attributed to other threads. With the lock. */
bool can_note(void);

/* Returns a database path's index in the log, PATHS_MOST if it is full. With the lock, after
 * can_note. */
uint32_t log_path(const char *text, bool attached);

/* Returns the log, NULL if there is none. Without the lock. */
struct transaction_log *preload_log(void);
