/* Runs RocksDB's flushes and compactions in the call that makes them due (--background inline), so
 * that runs are equal and its file calls are the caller's; or waits for its threads. The linker
 * replaces two functions (engine.mk): what RocksDB schedules is queued, and a wait of the caller
 * for a condition does the queued work and returns, as after a spurious wakeup: all waits of
 * RocksDB are loops. */
#include "database.h"

#include <inttypes.h>
#include <pthread.h>
#include <time.h>

#include "fail.h"
#include "rocksdb_release.h"

/* RocksDB schedules a flush and a compaction at most (max_background_jobs=1). */
enum { MOST_WORK = 16 };

typedef void work_function(void *argument);

static struct work {
	work_function *function;
	void *argument;
} queue[MOST_WORK];
static size_t queued;
static bool is_inline;
static pthread_t caller;

void __real__ZN7rocksdb14ThreadPoolImpl8ScheduleEPFvPvES1_S1_S3_(void *pool,
								 work_function *function,
								 void *argument, void *tag,
								 work_function *unschedule);
int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);

void background_begin(const struct database *database)
{
	is_inline = database->background == INLINE;
	caller = pthread_self();
}

static bool is_callers(void)
{
	return is_inline && pthread_equal(pthread_self(), caller);
}

static void drain(void)
{
	while (queued > 0) {
		struct work first = queue[0];

		queued--;
		for (size_t i = 0; i < queued; i++)
			queue[i] = queue[i + 1];
		first.function(first.argument);
	}
}

/* rocksdb::ThreadPoolImpl::Schedule */
void __wrap__ZN7rocksdb14ThreadPoolImpl8ScheduleEPFvPvES1_S1_S3_(void *pool,
								 work_function *function,
								 void *argument, void *tag,
								 work_function *unschedule)
{
	if (!is_callers()) {
		__real__ZN7rocksdb14ThreadPoolImpl8ScheduleEPFvPvES1_S1_S3_(
			pool, function, argument, tag, unschedule);
		return;
	}
	if (queued == MOST_WORK)
		fail("%s has more than %d flushes and compactions due", engine.title(), MOST_WORK);
	queue[queued++] = (struct work){function, argument};
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	if (!is_callers() || queued == 0)
		return __real_pthread_cond_wait(condition, mutex);
	pthread_mutex_unlock(mutex);
	drain();
	return pthread_mutex_lock(mutex);
}

#if ROCKSDB_MAJOR >= 9
static bool wait_for_thread(struct database *database, struct error *error)
{
	char *message = NULL;

	rocksdb_wait_for_compact(database->db, database->wait, &message);
	return !call_failed("waiting for compactions", message, error);
}
#else
/* Older ones have no call for it. */
static bool wait_for_thread(struct database *database, struct error *error)
{
	static const char *const counts[] = {
		"rocksdb.mem-table-flush-pending", "rocksdb.num-running-flushes",
		"rocksdb.compaction-pending", "rocksdb.num-running-compactions"};
	static const struct timespec interval = {.tv_nsec = 1000000};
	size_t i = 0;

	while (i < sizeof(counts) / sizeof(counts[0])) {
		uint64_t count;

		if (rocksdb_property_int(database->db, counts[i], &count) != 0)
			return error_set(error, "%s has no property %s", engine.title(), counts[i]);
		if (count > 0)
			nanosleep(&interval, NULL);
		i = count > 0 ? 0 : i + 1;
	}
	return true;
}
#endif

bool background_finish(struct database *database, struct error *error)
{
	drain();
	return database->background == INLINE || wait_for_thread(database, error);
}

bool background_check(struct database *database, struct error *error)
{
	static const char property[] = "rocksdb.background-errors";
	uint64_t count;

	if (rocksdb_property_int(database->db, property, &count) != 0)
		return error_set(error, "%s has no property %s", engine.title(), property);
	return count == 0 || error_set(error, "%" PRIu64 " flushes or compactions failed", count);
}
