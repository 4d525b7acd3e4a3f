/* A witness of what SQLite asks of its files: a VFS around the default one
 * that notes the calls and passes them on, as SQLite's own test_vfslog.c does.
 * What the filesystem is asked for in its turn is the default VFS's affair. */
#ifndef COMMITPATH_VFS_SHIM_H
#define COMMITPATH_VFS_SHIM_H

#include <stddef.h>

/* Makes the shim the default VFS, with room for the calls of so many
 * transactions. Before the first database is opened. Ends the run when SQLite
 * does not take it. */
void vfs_shim_register(size_t transactions);

/* Notes calls from now on, beginning with an `open` of each file that is open. */
void vfs_shim_begin(void);

/* Notes no more calls. */
void vfs_shim_end(void);

#endif
