/* Folders' files as they were, in memory. */
#ifndef COMMITPATH_KEPT_H
#define COMMITPATH_KEPT_H

/* Keeps the files of a folder, too; what is a folder in it stays as it is. Fails the run on an
 * error. */
void kept_take(const char *folder);

/* Makes the folders what they were: other files are removed, and those that were there are made
 * anew. */
void kept_restore(void);

#endif
