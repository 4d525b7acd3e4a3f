#include "model.h"

#include "disk.h"
#include "target.h"

int model_make(struct target *target)
{
	int result = target_run(target, "BEGIN");

	if (result == SQLITE_OK)
		result = load_create(target);
	if (result == SQLITE_OK)
		result = target_run(target, "COMMIT");
	if (!sqlite3_get_autocommit(target->db))
		sqlite3_exec(target->db, "ROLLBACK", NULL, NULL, NULL);
	return result;
}

/* What is a connection's alone is gone. */
static const char reopened[] = "PRAGMA recursive_triggers=0; DROP TABLE IF EXISTS temp.own";

uint64_t model_hash(uint64_t seed, bool made, const int64_t *events, int count)
{
	struct target plain = {0};
	uint64_t found;

	disk_pause(true);
	sqlite3_open_v2(":memory:", &plain.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix");
	if (made)
		model_make(&plain);
	for (int i = 0; i < count; i++) {
		if (events[i] == REOPENED)
			sqlite3_exec(plain.db, reopened, NULL, NULL, NULL);
		else
			load_transaction(&plain, MIX_ALL, seed, events[i]);
		load_end_reading(&plain);
	}
	found = load_hash(plain.db, true);
	sqlite3_close(plain.db);
	disk_pause(false);
	return found;
}
