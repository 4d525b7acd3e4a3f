/* Logs the file calls of an engine that calls libc itself, and passes the bytes written to the
 * engine's hooks: the linker's --wrap passes open, write, fsync and others through here (FILE_CALLS
 * of packages.mk). Logged are the calls of one thread on files in the database's folder that are
 * opened for writing, and the syncs of the folder. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LONGEST_NAME = 64 };

/* The role of a file that is not the engine's: its calls are not logged. */
#define NO_ROLE UINT_MAX

/* An open file. */
struct watched_file {
	unsigned role; /* in engine.file_roles */
	char name[LONGEST_NAME];
	void *state; /* of the hooks below; NULL when it is opened */
};

struct file_hooks {
	/* Required: returns a file's role by its name, or NO_ROLE. `compared`: its content is
	 * checked after a power cut (written.h). */
	unsigned (*role)(const char *name, bool *compared);
	/* The role of the folder, of the file that is mapped (msync), and of a file that is written
	 * by stdio, which is not replaced: only its open is logged. */
	unsigned folder_role, mapped_role, stream_role;

	/* Call `call` of vfs.csv, or -1, wrote bytes. */
	void (*wrote)(struct watched_file *file, const void *bytes, size_t size, int64_t offset,
		      int64_t call);
	void (*closed)(struct watched_file *file);
	void (*deleted)(const char *name);
};

/* Logs the files in a folder from now on, called by this thread, which replaces the
 * folder before. */
void files_watch(const char *folder, const struct file_hooks *hooks);
