// SPDX-License-Identifier: GPL-2.0-only
/*
 * {{NAME}}.bpf.c - record fsyncs of {{NAME}} files (sync.h).
 *
 * Required: the fsync of its file_operations; look its name up in the kernel's fs/{{NAME}}/file.c.
 * If it does not call file_write_and_wait_range, leave out DATA_PROBE.
 *
 * Optional: its journal commits or checkpoints, as RECORD_COMMIT or RECORD_CHECKPOINT
 * (the probes of other filesystems).
 */
#include "sync.h"

SYNC_PROBES(file_sync, "{{NAME}}_sync_file")
DATA_PROBE(file_data_end)
