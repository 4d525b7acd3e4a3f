/*
 * record.h - what the probes write: one record an event, into one ring.
 *
 * Shared by the probes (BPF) and the recorder (arm64). docs/reference/formats.md has the fields of each
 * type. What would make an older file say something else is a new RECORD_VERSION; a new type, or
 * a new word in an enum, is not.
 */
#ifndef RECORD_H
#define RECORD_H

#include <linux/types.h>

#define RECORD_MAGIC "CPPROBE1"
#define RECORD_VERSION 1
/* 64 MiB: a whole run of 3 x 1000 transactions. A power of two. */
#define RING_RECORDS (1 << 20)
#define ALARM_BYTES (64 * 1024) /* the least of a ring buffer: a page, however large */

enum record_type {
	RECORD_ATTACHED = 1,
	RECORD_DETACHED = 2,
	RECORD_SYNC = 3,
	RECORD_BLOCK = 4,
	RECORD_BIO = 5,
	RECORD_PAGES = 6,
	RECORD_FLUSH = 7,
	RECORD_COMMIT = 8,
	RECORD_COMMIT_WAIT = 9,
	RECORD_CHECKPOINT = 10,
	RECORD_DATA_WAIT = 11,
	RECORD_NODE_WAIT = 12,
	RECORD_OFF_CPU = 13,
	RECORD_WRITEBACK = 14,
	RECORD_NAME = 15,
	RECORD_COMM = 16,
};

enum page_owner {
	OWNER_FILE = 0,
	OWNER_DIRECTORY = 1,
	OWNER_DEVICE = 2,
	OWNER_OTHER = 3,
	OWNER_NONE = 4,
	OWNER_MOVED = 5, /* a file, and the filesystem's garbage collector had the page moved */
};

struct record {
	__u64 begin_ns, end_ns; /* CLOCK_MONOTONIC */
	union {
		struct {
			__u16 type;
			__u16 flags;
			__u32 tid;
		};
		__u64 head; /* in the ring written last: a record without a type is not finished */
	};
	__u32 dev; /* the kernel's dev_t: major << 20 | minor */
	__u32 n;
	__u64 a, b, c, d;
};

struct file_header {
	char magic[8];
	__u32 record_size;
	__u32 version;
	__u64 reserved[6];
};

/*
 * How far the probes and the recorder are: one for all probe files, in the map .data.ring of each.
 * Record i is in place i & mask. One that is reserved and never drained is lost: it found no
 * place (only the recorder makes room), or came behind such a one. The pages of a lost bio have
 * no records, and are not counted.
 */
struct ring {
	__u64 next;    /* records reserved; the probes add */
	__u64 limit;   /* the first that would find no place; the recorder sets it */
	__u64 mask;    /* places, a power of two, less 1 */
	__u64 updates; /* what was in flight could not be kept: a map was full */
};

_Static_assert(sizeof(struct record) == 64, "a record has 64 bytes");
_Static_assert(sizeof(struct file_header) == 64, "so has the file's header");

#endif
