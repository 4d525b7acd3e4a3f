/* What sqlite_read_properties read of SQLite's pragmas. */
#ifndef COMMITPATH_SQLITE_PROPERTIES_H
#define COMMITPATH_SQLITE_PROPERTIES_H

#include "json.h"

/* Writes it as members of the object that is open: of the database of that number, or where that is
 * ALL_DATABASES of the first. */
void properties_write(struct json *json, size_t number);

#endif
