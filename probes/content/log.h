/* SPDX-License-Identifier: GPL-2.0-only */
/* Format of raw/content.bin (docs/reference/formats.md), and functions of the log of writes. */
#ifndef CONTENT_LOG_H
#define CONTENT_LOG_H

#include <linux/blk-mq.h>
#include <linux/types.h>

/* freed one by one as the log is read */
#define LOG_CHUNK_MIB 4
#define LOG_CHUNK_BYTES (LOG_CHUNK_MIB * (1UL << 20))
#define LOG_MOST_MIB 4096
#define LOG_NOT_KEPT (~0ULL)
/* not a command, but the end of one that was put back unserved; next to REQ_OP_* and REQ_* */
#define LOG_PUT_BACK (1U << 31)

struct log_header {
	char magic[8] __nonstring;
	__le32 header_bytes;
	__le32 record_bytes;
	__le64 records;
	__le64 data_bytes;
	/* writes without room for their data; commands without room for a record */
	__le64 unkept;
	__le64 lost;
};

struct log_record {
	__le64 time_ns; /* of the issue; CLOCK_MONOTONIC */
	__le64 sector;
	__le64 begin; /* of its data; LOG_NOT_KEPT: not stored */
	__le32 bytes;
	__le32 flags; /* cmd_flags */
	__le64 serial;
};

int log_make(u32 data_mib, u32 records);
void log_free(void);
void log_add(struct request *rq, u64 time_ns, u32 more_flags);
ssize_t log_read(char __user *buffer, size_t count, loff_t *offset);

#endif
