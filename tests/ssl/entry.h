/* Files of the disk (disk.h): what they are now, what is durable, and what was written since. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { FILES = 16, REGIONS = 64 };

struct data {
	uint8_t *bytes;
	int64_t size, room;
};

/* What was written, or, without bytes, a truncation. */
struct change {
	struct change *next;
	bool atomic; /* with all that are of the same atomic write */
	uint8_t *bytes;
	int64_t offset, size;
};

struct entry {
	char name[64];
	bool there, durable_name; /* the name; on the disk */
	struct data now, durable;
	struct change *changes, **last;
	bool atomic;	    /* an atomic write is begun */
	bool committing;    /* and power was cut while it was committed */
	struct data before; /* what was there when it was begun */
	void *shared[REGIONS];
};

extern struct entry entries[FILES];

void data_put(struct data *data, const void *bytes, int64_t size, int64_t offset);
void data_cut(struct data *data, int64_t size);
void data_copy(struct data *to, const struct data *from);

/* The entry of a name; NULL: there is none, and none is to be made. */
struct entry *entry_find(const char *name, bool create);

/* Notes a write; without bytes a truncation. */
void entry_note(struct entry *entry, const void *bytes, int64_t size, int64_t offset);

/* An atomic write of it; what is written in it is there with all the rest, or not at all. */
void entry_begin(struct entry *entry);
void entry_commit(struct entry *entry);
void entry_revoke(struct entry *entry);

/* Nothing of it is undecided any more. */
void entry_settled(struct entry *entry);
void entry_unshare(struct entry *entry);
