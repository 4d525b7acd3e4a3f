// SPDX-License-Identifier: GPL-2.0-only
/*
 * {{NAME}}.bpf.c - record fsyncs of {{NAME}} files (sync.h).
 *
 * Required: the fsync of its file_operations; look its name up in the kernel's fs/{{NAME}}/file.c.
 * If it does not call file_write_and_wait_range, leave out data_end.
 *
 * Optional: its journal commits or checkpoints, as RECORD_COMMIT or RECORD_CHECKPOINT
 * (the probes of other filesystems).
 */
#include "sync.h"

SEC(ENTRY "{{NAME}}_sync_file")
int file_sync_begin(void *ctx)
{
	return sync_begin(ctx);
}

SEC(RETURN "{{NAME}}_sync_file")
int file_sync_end(void *ctx)
{
	return sync_end(ctx);
}

SEC(RETURN "file_write_and_wait_range")
int file_data_end(void *ctx)
{
	return data_end(ctx);
}
