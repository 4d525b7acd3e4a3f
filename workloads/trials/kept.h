/* Copies the files of folders to memory, and restores them before the next crash trial by SIGKILL
 * (kill.c). */
#pragma once

/* Keeps the files of a folder and of its subfolders. Fails the run on an error. */
void kept_take(const char *folder);

/* Restores the folders: removes other files, and writes the kept ones again. Subfolders stay. */
void kept_restore(void);
