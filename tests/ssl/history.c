#include "history.h"

#include <stdlib.h>

void history_copy(sqlite3 *to, sqlite3 *from)
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
	sqlite3_open_v2(":memory:", &state->plain, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			"unix");
	history_copy(state->plain, plain);
}

int64_t history_lost(const struct history *history, sqlite3 *plain, uint64_t full)
{
	for (int i = history->count - 1; i >= 0; i--)
		if (history->states[i].full == full) {
			history_copy(plain, history->states[i].plain);
			return history->count - 1 - i;
		}
	return -1;
}
