/* Files of the disk in memory (entry.h): their bytes, writes since the last sync, atomic writes. */
#include "entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry entries[FILES];

void data_put(struct data *data, const void *bytes, int64_t size, int64_t offset)
{
	if (offset + size > data->room) {
		data->room = (offset + size) * 2;
		data->bytes = realloc(data->bytes, (size_t)data->room);
	}
	if (offset > data->size)
		memset(data->bytes + data->size, 0, (size_t)(offset - data->size));
	memcpy(data->bytes + offset, bytes, (size_t)size);
	if (offset + size > data->size)
		data->size = offset + size;
}

void data_cut(struct data *data, int64_t size)
{
	static const uint8_t zero;

	if (size > data->size)
		data_put(data, &zero, 1, size - 1);
	data->size = size;
}

void data_copy(struct data *to, const struct data *from)
{
	to->size = 0;
	if (from->size > 0)
		data_put(to, from->bytes, from->size, 0);
}

void entry_settled(struct entry *entry)
{
	while (entry->changes != NULL) {
		struct change *change = entry->changes;

		entry->changes = change->next;
		free(change->bytes);
		free(change);
	}
	entry->last = &entry->changes;
}

void entry_unshare(struct entry *entry)
{
	for (int i = 0; i < REGIONS; i++) {
		free(entry->shared[i]);
		entry->shared[i] = NULL;
	}
}

void entry_note(struct entry *entry, const void *bytes, int64_t size, int64_t offset)
{
	struct change *change = calloc(1, sizeof(*change));

	change->atomic = entry->atomic;
	change->offset = offset;
	change->size = size;
	if (bytes != NULL) {
		change->bytes = malloc((size_t)size);
		memcpy(change->bytes, bytes, (size_t)size);
	}
	*entry->last = change;
	entry->last = &change->next;
}

void entry_begin(struct entry *entry)
{
	data_copy(&entry->before, &entry->now);
	entry->atomic = true;
}

void entry_commit(struct entry *entry)
{
	data_copy(&entry->durable, &entry->now);
	entry_settled(entry);
	entry->durable_name = true;
	entry->atomic = entry->committing = false;
}

void entry_revoke(struct entry *entry)
{
	if (!entry->atomic)
		return;
	data_copy(&entry->now, &entry->before);
	for (struct change **at = &entry->changes; *at != NULL;) {
		struct change *change = *at;

		if (!change->atomic) {
			at = &change->next;
			continue;
		}
		*at = change->next;
		free(change->bytes);
		free(change);
	}
	for (entry->last = &entry->changes; *entry->last != NULL;)
		entry->last = &(*entry->last)->next;
	entry->atomic = entry->committing = false;
}

struct entry *entry_find(const char *name, bool create)
{
	struct entry *unused = NULL;

	for (int i = 0; i < FILES; i++) {
		if (strcmp(entries[i].name, name) == 0)
			return &entries[i];
		if (entries[i].name[0] == '\0' && unused == NULL)
			unused = &entries[i];
	}
	if (!create || unused == NULL)
		return NULL;
	snprintf(unused->name, sizeof(unused->name), "%s", name);
	unused->last = &unused->changes;
	return unused;
}
