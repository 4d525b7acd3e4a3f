/* Write the pragmas that sqlite_read_properties read. */
#ifndef COMMITPATH_SQLITE_PROPERTIES_H
#define COMMITPATH_SQLITE_PROPERTIES_H

#include "json.h"

/* Writes them as members of the open object, for that database, or for the first with
 * ALL_DATABASES. */
void properties_write(struct json *json, size_t number);

#endif
