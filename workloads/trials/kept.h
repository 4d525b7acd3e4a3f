/* A folder's files as they were, in memory. */
#ifndef COMMITPATH_KEPT_H
#define COMMITPATH_KEPT_H

/* Keeps the files of a folder, which has no folders in it. Fails the run on an error. */
void kept_take(const char *folder);

/* Makes the folder what it was: other files are removed, and those that were there are made anew.
 */
void kept_restore(void);

#endif
