/* How often SQLite found a database locked, in the log of transactions. */
#ifndef COMMITPATH_PRELOAD_LOCKS_H
#define COMMITPATH_PRELOAD_LOCKS_H

/* Around a call of SQLite's whose result is counted if it is SQLITE_BUSY. */
void locks_enter(void);
void locks_leave(int result);

#endif
