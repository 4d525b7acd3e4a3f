/* Files of a database with a log, as SQLite sees them through the VFS. */
#ifndef COMMITPATH_SSL_VFS_H
#define COMMITPATH_SSL_VFS_H

#include "state.h"

struct vfs_file {
	sqlite3_file base;
	struct ssl *ssl;
};

/* vfs_files.c */
extern const sqlite3_io_methods vfs_wal, vfs_database;

#endif
