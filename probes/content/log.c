// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of writes in memory: append one with its data, read all once. Its memory is allocated
 * before the measurement and not touched until used: a snapshot of the board stays sparse.
 */
#include <linux/bvec.h>
#include <linux/highmem.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "log.h"

static struct {
	struct log_record *records;
	char *chunks[LOG_MOST_MIB / LOG_CHUNK_MIB];
	u64 nr_chunks, nr, most, bytes, unkept, lost, serial;
	/* of the file */
	u64 read;
} log;

void log_free(void)
{
	unsigned int i;

	for (i = 0; i < log.nr_chunks; i++)
		vfree(log.chunks[i]);
	vfree(log.records);
	memset(&log, 0, sizeof(log));
}

/*
 * Allocate room for so many bytes, in whole chunks, and records. Huge pages: small ones would need
 * page tables, which would lie among them all over the memory.
 */
int log_make(u32 data_mib, u32 records)
{
	unsigned int i;

	if (!records || data_mib % LOG_CHUNK_MIB || data_mib > LOG_MOST_MIB)
		return -EINVAL;
	log.nr_chunks = data_mib / LOG_CHUNK_MIB;
	log.most = records;
	log.records = vmalloc_huge(records * sizeof(*log.records), GFP_KERNEL);
	if (!log.records)
		return -ENOMEM;
	for (i = 0; i < log.nr_chunks; i++) {
		log.chunks[i] = vmalloc_huge(LOG_CHUNK_BYTES, GFP_KERNEL);
		if (!log.chunks[i]) {
			log_free();
			return -ENOMEM;
		}
	}
	return 0;
}

static void append(const char *data, size_t size)
{
	while (size) {
		size_t place = log.bytes % LOG_CHUNK_BYTES,
		       part = min(size, LOG_CHUNK_BYTES - place);

		memcpy(log.chunks[log.bytes / LOG_CHUNK_BYTES] + place, data, part);
		log.bytes += part;
		data += part;
		size -= part;
	}
}

/* Append a write's data; return where it begins. */
static u64 keep(struct request *rq)
{
	u64 begin = log.bytes;
	struct req_iterator iter;
	struct bio_vec vector;

	if (req_op(rq) != REQ_OP_WRITE || !blk_rq_bytes(rq))
		return LOG_NOT_KEPT;
	if (log.bytes + blk_rq_bytes(rq) > log.nr_chunks * LOG_CHUNK_BYTES) {
		log.unkept++;
		return LOG_NOT_KEPT;
	}
	rq_for_each_segment(vector, rq, iter)
	{
		char *data = bvec_kmap_local(&vector);

		append(data, vector.bv_len);
		kunmap_local(data);
	}
	return begin;
}

/* One caller at a time, in any context: it neither allocates nor sleeps. */
void log_add(struct request *rq, u64 time_ns, u32 more_flags)
{
	u64 serial = log.serial++;

	if (log.nr == log.most) {
		log.lost++;
		return;
	}
	log.records[log.nr] = (struct log_record){
		.time_ns = cpu_to_le64(time_ns),
		/* a flush has no sector */
		.sector = cpu_to_le64(req_op(rq) == REQ_OP_FLUSH ? 0 : blk_rq_pos(rq)),
		.begin = cpu_to_le64(more_flags ? LOG_NOT_KEPT : keep(rq)),
		.bytes = cpu_to_le32(blk_rq_bytes(rq)),
		.flags = cpu_to_le32((__force u32)rq->cmd_flags | more_flags),
		.serial = cpu_to_le64(serial),
	};
	log.nr++;
}

/* Return the size and place of the part of the file at an offset; 0 at its end. */
static size_t part_at(u64 offset, const struct log_header *header, const char **place)
{
	u64 size = sizeof(*header), at = offset;

	*place = (const char *)header + at;
	if (at < size)
		return size - at;
	at -= size;
	size = log.nr * sizeof(*log.records);
	*place = (const char *)log.records + at;
	if (at < size)
		return size - at;
	at -= size;
	if (at >= log.bytes)
		return 0;
	*place = log.chunks[at / LOG_CHUNK_BYTES] + at % LOG_CHUNK_BYTES;
	return min(log.bytes - at, LOG_CHUNK_BYTES - at % LOG_CHUNK_BYTES);
}

/* Free the data already read: the file that it is copied to is in the same memory. */
static void forget(u64 read)
{
	u64 before = sizeof(struct log_header) + log.nr * sizeof(*log.records), chunk;

	if (read < before + LOG_CHUNK_BYTES)
		return;
	chunk = (read - before) / LOG_CHUNK_BYTES - 1;
	vfree(log.chunks[chunk]);
	log.chunks[chunk] = NULL;
}

/* Read the next bytes of the log, sequentially and once. Nothing may be added any more. */
ssize_t log_read(char __user *buffer, size_t count, loff_t *offset)
{
	const struct log_header header = {
		.magic = {'C', 'P', 'C', 'O', 'N', 'T', 0, 1},
		.header_bytes = cpu_to_le32(sizeof(header)),
		.record_bytes = cpu_to_le32(sizeof(*log.records)),
		.records = cpu_to_le64(log.nr),
		.data_bytes = cpu_to_le64(log.bytes),
		.unkept = cpu_to_le64(log.unkept),
		.lost = cpu_to_le64(log.lost),
	};
	const char *place;
	size_t size;

	if (*offset != log.read)
		return -ESPIPE;
	size = min(part_at(log.read, &header, &place), count);
	if (copy_to_user(buffer, place, size))
		return -EFAULT;
	log.read += size;
	*offset = log.read;
	forget(log.read);
	return size;
}
