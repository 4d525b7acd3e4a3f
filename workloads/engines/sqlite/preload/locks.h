/* Counts SQLite's lock contention in the log of transactions: calls that returned SQLITE_BUSY, and
 * sleeps. */
#pragma once

/* Surround a call of SQLite's, counted if its result is SQLITE_BUSY. */
void locks_enter(void);
void locks_leave(int result);
