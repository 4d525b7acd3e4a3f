/* Counts of SQLite's lock contention, in the log of transactions. */
#pragma once

/* Surround a call of SQLite's, counted if its result is SQLITE_BUSY. */
void locks_enter(void);
void locks_leave(int result);
