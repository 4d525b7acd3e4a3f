/* Flushes and compactions, by RocksDB's own threads. With --background inline, a call waits for
 * those that it made due: then only one thread has work at a time, and runs are equal. */
#include "database.h"

#include <time.h>

#include "rocksdb_release.h"

#if ROCKSDB_MAJOR >= 9
bool background_finish(struct database *database, struct error *error)
{
	char *message = NULL;

	rocksdb_wait_for_compact(database->db, database->wait, &message);
	return !call_failed("waiting for compactions", message, error);
}
#else
/* Older ones have no call for it. */
bool background_finish(struct database *database, struct error *error)
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
