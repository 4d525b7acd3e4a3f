/*
 * Counts lock contention: calls that returned SQLITE_BUSY, and SQLite's sleeps with their duration.
 * It sleeps in its busy handler (busy_timeout) and, in WAL mode, between two attempts to begin a
 * read or a recovery, each time for a lock.
 *
 * A sleep is attributed to SQLite by the calling object. Results of statement functions are counted
 * in sqlite.c; here, those of sqlite3_prepare_v2 and _v3, which read the schema.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "locks.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "library.h"
#include "log.h"

#define EXPORT __attribute__((visibility("default")))
/* sqlite3.h: the lowest byte of an extended result */
enum { BUSY = 5, PRIMARY = 0xff };

static _Thread_local int depth; /* SQLite calls itself: nested calls count once */

static void add(uint64_t *counter, uint64_t number)
{
	__atomic_add_fetch(counter, number, __ATOMIC_RELAXED);
}

void locks_enter(void)
{
	depth++;
}

void locks_leave(int result)
{
	struct transaction_log *log;

	if (--depth > 0 || (result & PRIMARY) != BUSY)
		return;
	log = preload_log();
	if (log)
		add(&log->busy, 1);
}

static void slept(uint64_t begin_ns)
{
	int error = errno;
	struct transaction_log *log = preload_log();

	if (log) {
		add(&log->sleeps, 1);
		add(&log->slept_ns, clock_now() - begin_ns);
	}
	errno = error;
}

/* Returns the function that the program would have called without this library. */
static function next_of(const char *name)
{
	void *address = dlsym(RTLD_NEXT, name);
	function found;

	memcpy(&found, &address, sizeof(found));
	return found;
}

EXPORT int usleep(useconds_t microseconds)
{
	static int (*real)(useconds_t);
	uint64_t begin_ns = clock_now();
	int result;

	if (real == NULL)
		real = (int (*)(useconds_t))next_of("usleep");
	result = real(microseconds);
	if (library_holds(__builtin_return_address(0)))
		slept(begin_ns);
	return result;
}

EXPORT int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	static int (*real)(const struct timespec *, struct timespec *);
	uint64_t begin_ns = clock_now();
	int result;

	if (real == NULL)
		real = (int (*)(const struct timespec *, struct timespec *))next_of("nanosleep");
	result = real(wanted, left);
	if (library_holds(__builtin_return_address(0)))
		slept(begin_ns);
	return result;
}

EXPORT int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **statement,
			      const char **tail)
{
	struct library *sqlite = library_of(__builtin_return_address(0));
	int result, error;

	locks_enter();
	result = sqlite->prepare_v2(db, sql, bytes, statement, tail);
	error = errno;
	locks_leave(result);
	errno = error;
	return result;
}

EXPORT int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int bytes, unsigned int flags,
			      sqlite3_stmt **statement, const char **tail)
{
	struct library *sqlite = library_of(__builtin_return_address(0));
	int result, error;

	locks_enter();
	result = sqlite->prepare_v3(db, sql, bytes, flags, statement, tail);
	error = errno;
	locks_leave(result);
	errno = error;
	return result;
}
