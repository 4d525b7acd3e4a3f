/* The pragmas a run asks for, and what the database says it does. */
#ifndef COMMITPATH_SETTINGS_H
#define COMMITPATH_SETTINGS_H

#include "json.h"
#include "options.h"
#include "sqlite3.h"

/* Sets every requested pragma and checks it with settings_check. The page
 * size is a property of the file and only checked. */
void settings_apply(sqlite3 *db, const struct options *options);

/* Reads every requested pragma back and keeps the answers. Ends the run
 * with one line when one is not what was asked for. No I/O: all of them are
 * answered from memory once the database has been read. */
void settings_check(sqlite3 *db, const struct options *options);

/* Reads the other pragmas that have an answer, and keeps their text. */
void settings_read_others(sqlite3 *db);

/* Write the objects of config.json: `requested`, `effective`, `pragmas`. */
void settings_write(struct json *json, const struct options *options);

#endif
