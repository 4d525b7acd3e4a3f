/* The calls of SQLite's file methods, kept in memory while a run is measured
 * and written to vfs.csv afterwards. */
#ifndef COMMITPATH_VFS_CALLS_H
#define COMMITPATH_VFS_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum vfs_op {
	VFS_OPEN,
	VFS_CLOSE,
	VFS_WRITE,
	VFS_SYNC,
	VFS_TRUNCATE,
	VFS_DELETE,
	VFS_SHM_MAP,
};

enum vfs_file { VFS_DATABASE, VFS_JOURNAL, VFS_WAL, VFS_SHM, VFS_OTHER };

/* In `offset` and `bytes`: has no meaning for this call. */
#define VFS_NOTHING INT64_C(-1)

struct vfs_call {
	uint64_t begin, end;   /* ticks.h */
	uint64_t inode;	       /* 0: unknown */
	int64_t offset, bytes; /* docs/formats.md says what they are for each op */
	enum vfs_op op;
	enum vfs_file file;
};

/* Makes room for `capacity` calls and faults it in; each time it is full, as
 * much again is added. Ends the run when there is no memory. */
void vfs_calls_open(size_t capacity);

/* The place of one more call. */
struct vfs_call *vfs_calls_next(void);

/* Writes vfs.csv. */
void vfs_calls_write(const char *directory);

/* Frees the memory. */
void vfs_calls_close(void);

#endif
