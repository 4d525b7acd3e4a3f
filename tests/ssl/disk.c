/* The disk in memory of disk.h: counts and fails calls, decides what a power cut leaves, and edits
 * files as other programs do. */
#include "disk.h"

#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "prng.h"
#include "sqlite3.h"

enum { SECTOR = 512, WORD = 8 };

int64_t disk_time;
static int64_t calls, cut_at, fault_at, allocations;
static enum fault fault;
static bool is_cut, has_failed, armed, is_paused, lasts;
static struct prng state;

/* A call to the disk; false: it fails. A cut is before or after what the call does, as it is then
 * not synced. */
int disk_call(int code)
{
	if (is_paused)
		return SQLITE_OK;
	if (is_cut)
		return code;
	calls++;
	if (cut_at > 0 && calls >= cut_at) {
		is_cut = true;
		return code;
	}
	if (fault == FAULT_NONE || fault == FAULT_NOMEM || calls < fault_at)
		return SQLITE_OK;
	/* a full device fails nothing but writes */
	if (calls > fault_at && (!lasts || (fault == FAULT_FULL && code != SQLITE_IOERR_WRITE)))
		return SQLITE_OK;
	has_failed = true;
	return fault == FAULT_FULL && code == SQLITE_IOERR_WRITE ? SQLITE_FULL : code;
}

bool disk_no_memory(void)
{
	if (!armed || ++allocations != fault_at || fault != FAULT_NOMEM)
		return false;
	has_failed = true;
	return true;
}

enum fault disk_fault(void)
{
	return fault;
}

void disk_empty(void)
{
	for (int i = 0; i < FILES; i++) {
		entry_settled(&entries[i]);
		entry_unshare(&entries[i]);
		free(entries[i].now.bytes);
		free(entries[i].durable.bytes);
		free(entries[i].before.bytes);
		memset(&entries[i], 0, sizeof(entries[i]));
	}
	sqlite3_randomness(0, NULL);
	disk_time = INT64_C(212700000000000);
	calls = cut_at = fault_at = allocations = 0;
	fault = FAULT_NONE;
	is_cut = has_failed = lasts = false;
}

void disk_cut_after(int64_t count)
{
	cut_at = count > 0 ? calls + count : 0;
}

void disk_pause(bool paused)
{
	is_paused = paused;
}

void disk_cut_now(void)
{
	is_cut = true;
}

bool disk_is_cut(void)
{
	return is_cut;
}

static bool is_log(const struct entry *entry)
{
	size_t length = strlen(entry->name);

	return length > 4 && (strcmp(entry->name + length - 4, "-sla") == 0 ||
			      strcmp(entry->name + length - 4, "-ppl") == 0);
}

static bool keep(enum kept kept, bool *ended)
{
	switch (kept) {
	case KEPT_NONE:
		return false;
	case KEPT_ALL:
		return true;
	case KEPT_BEGIN:
		*ended |= prng_next(&state) % 8 == 0;
		return !*ended;
	default:
		return prng_next(&state) % 2 == 0;
	}
}

static void settle(struct entry *entry, enum kept kept)
{
	int64_t piece = is_log(entry) ? WORD : SECTOR;
	bool ended = false;

	/* a sector at a time, as it is torn; most writes are whole, or nothing is seen of the rest
	 */
	for (struct change *change = entry->changes; change != NULL; change = change->next) {
		bool whole = kept == KEPT_SOME && prng_next(&state) % 2 == 0;

		if (change->bytes == NULL || whole) {
			if (!keep(kept, &ended))
				continue;
			if (change->bytes == NULL)
				data_cut(&entry->durable, change->size);
			else
				data_put(&entry->durable, change->bytes, change->size,
					 change->offset);
			continue;
		}
		for (int64_t at = change->offset, end = at + change->size; at < end;) {
			int64_t to = (at / piece + 1) * piece;

			if (to > end)
				to = end;
			if (keep(kept, &ended))
				data_put(&entry->durable, change->bytes + at - change->offset,
					 to - at, at);
			at = to;
		}
	}
}

void disk_power(uint64_t seed, enum kept kept)
{
	state.state = seed;
	for (int i = 0; i < FILES; i++) {
		struct entry *entry = &entries[i];

		if (entry->name[0] == '\0')
			continue;
		if (entry->committing && prng_next(&state) % 2 == 0)
			entry_commit(entry);
		else
			entry_revoke(entry);
		/* a name that is new or gone and was not synced */
		if (entry->there != entry->durable_name && prng_next(&state) % 2 == 0)
			entry->durable_name = entry->there;
		if (entry->durable_name && entry->there)
			settle(entry, kept);
		else if (!entry->durable_name)
			entry->durable.size = 0;
		entry_settled(entry);
		entry_unshare(entry);
		data_copy(&entry->now, &entry->durable);
		entry->there = entry->durable_name;
	}
	is_cut = false;
	cut_at = 0;
}

void disk_killed(void)
{
	for (int i = 0; i < FILES; i++) {
		entry_revoke(&entries[i]);
		entry_unshare(&entries[i]);
	}
	is_cut = false;
	cut_at = 0;
}

int64_t disk_calls(void)
{
	return calls;
}

int64_t disk_allocations(void)
{
	return allocations;
}

void disk_lasts(bool on)
{
	lasts = on;
}

void disk_fail(enum fault what, int64_t number)
{
	fault = what;
	fault_at = what == FAULT_NOMEM || number == 0 ? number : calls + number;
	allocations = 0;
	has_failed = false;
}

bool disk_failed(void)
{
	return has_failed;
}

void disk_memory(bool is_armed)
{
	armed = is_armed;
}

bool disk_copy(const char *from, const char *to)
{
	struct entry *source = entry_find(from, false), *copy = entry_find(to, true);

	if (source == NULL || copy == NULL || !source->there)
		return false;
	entry_settled(copy);
	data_copy(&copy->now, &source->now);
	data_copy(&copy->durable, &source->now);
	copy->there = copy->durable_name = true;
	return true;
}

void disk_remove(const char *name)
{
	struct entry *entry = entry_find(name, false);

	if (entry != NULL) {
		entry->there = entry->durable_name = false;
		entry->now.size = entry->durable.size = 0;
		entry_settled(entry);
	}
}

bool disk_edit(const char *name, int64_t offset, uint8_t byte)
{
	struct entry *entry = entry_find(name, false);

	if (entry == NULL || !entry->there || offset >= entry->now.size)
		return false;
	entry->now.bytes[offset] = entry->durable.bytes[offset] = byte;
	return true;
}

bool disk_cut_file(const char *name, int64_t size)
{
	struct entry *entry = entry_find(name, false);

	if (entry == NULL || !entry->there)
		return false;
	data_cut(&entry->now, size);
	data_cut(&entry->durable, size);
	return true;
}

bool disk_there(const char *name)
{
	struct entry *entry = entry_find(name, false);

	return entry != NULL && entry->there;
}
