/* The log of a command's transactions (transactions.h) in a process of the command. */
#ifndef COMMITPATH_PRELOAD_LOG_H
#define COMMITPATH_PRELOAD_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "transactions.h"

/* NULL until can_note or preload_log, and where there is none: then the program runs as ever. */
extern struct transaction_log *transaction_log;

/* One lock for all that the preload knows; a child of fork() finds it free. */
void lock_all(void);
void unlock_all(void);

/* Whether transactions can be noted: where the numbers of threads are others than the observers',
 * what these threads did would be taken for nobody's, or for another thread's. With the lock. */
bool can_note(void);

/* Where a database's path is in the log, PATHS_MOST if no place is left. With the lock, where
 * transactions can be noted. */
uint32_t log_path(const char *text, bool attached);

/* The log, NULL where there is none. Without the lock. */
struct transaction_log *preload_log(void);

#endif
