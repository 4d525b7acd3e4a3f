/* Hashes what SQLite alone makes of transactions (model.h), and keeps the states that a power cut
 * of a log without syncs may bring back. */
#include "model.h"

#include <stdlib.h>

#include "disk.h"
#include "target.h"

sqlite3 *model_open(void)
{
	sqlite3 *db;

	sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix");
	return db;
}

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

const char model_reopened[] = "PRAGMA recursive_triggers=0; DROP TABLE IF EXISTS temp.own";

uint64_t model_hash(uint64_t seed, bool made, const int64_t *events, int count)
{
	struct target plain = {0};
	uint64_t found;

	disk_pause(true);
	plain.db = model_open();
	if (made)
		model_make(&plain);
	for (int i = 0; i < count; i++) {
		if (events[i] == REOPENED)
			sqlite3_exec(plain.db, model_reopened, NULL, NULL, NULL);
		else
			load_transaction(&plain, MIX_ALL, seed, events[i]);
		load_end_reading(&plain);
	}
	found = load_hash(plain.db, true);
	sqlite3_close(plain.db);
	disk_pause(false);
	return found;
}

void model_copy(sqlite3 *to, sqlite3 *from)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

	sqlite3_backup_step(backup, -1);
	sqlite3_backup_finish(backup);
}

void history_free(struct history *history)
{
	for (int i = 0; i < history->count; i++)
		sqlite3_close(history->states[i].plain);
	free(history->states);
	*history = (struct history){0};
}

static int64_t checkpoints_of(const struct ssl *ours)
{
	struct ssl_stats stats = ssl_stats(ours);
	int64_t count = 0;

	for (int i = 0; i < SSL_REASONS; i++)
		count += stats.checkpoints[i];
	return count;
}

void history_note(struct history *history, const struct ssl *ours, sqlite3 *plain, uint64_t full)
{
	int64_t checkpoints = checkpoints_of(ours);
	struct state *state;

	if (checkpoints != history->checkpoints)
		history_free(history);
	history->checkpoints = checkpoints;
	history->states =
		realloc(history->states, (size_t)(history->count + 1) * sizeof(*history->states));
	state = &history->states[history->count++];
	state->full = full;
	state->plain = model_open();
	model_copy(state->plain, plain);
}

int64_t history_lost(const struct history *history, sqlite3 *plain, uint64_t full)
{
	for (int i = history->count - 1; i >= 0; i--)
		if (history->states[i].full == full) {
			model_copy(plain, history->states[i].plain);
			return history->count - 1 - i;
		}
	return -1;
}
