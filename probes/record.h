/*
 * record.h - formats of the records that the probes write into the ring, one per event, of the
 * ring's positions, and of the header of the recorder's file.
 *
 * Shared by the probes (BPF) and the recorder (arm64). docs/reference/formats.md has the fields of
 * each type. A change of the meaning of old files needs a new RECORD_VERSION; a new type, or a new
 * word in an enum, does not.
 */
#ifndef RECORD_H
#define RECORD_H

#include <linux/types.h>

#define RECORD_MAGIC "CPPROBE1"
#define RECORD_VERSION 1
/* 64 MiB: a whole run of 3 x 1000 transactions. A power of two. */
#define RING_RECORDS (1 << 20)
#define ALARM_BYTES (64 * 1024) /* smallest ring buffer: one page, of any page size */

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
	OWNER_MOVED = 5, /* a file's page, moved by the filesystem's garbage collector */
};

struct record {
	__u64 begin_ns, end_ns; /* CLOCK_MONOTONIC */
	union {
		struct {
			__u16 type;
			__u16 flags;
			__u32 tid;
		};
		__u64 head; /* written last in the ring: a record without a type is unfinished */
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
 * Positions of the probes and the recorder, one for all probe files, in the map .data.ring of each.
 * Record i is in place i & mask. A record that is reserved but never drained is lost: there was no
 * place for it, or for one before it. Pages of a lost bio have no records and are not counted.
 */
struct ring {
	__u64 next;    /* records reserved; the probes add */
	__u64 limit;   /* first record without a place; set by the recorder */
	__u64 mask;    /* number of places, a power of two, less 1 */
	__u64 updates; /* calls without a record: no place to begin, or no end seen */
};

_Static_assert(sizeof(struct record) == 64, "a record has 64 bytes");
_Static_assert(sizeof(struct file_header) == 64, "so has the file's header");

#endif
