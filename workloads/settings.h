/* Compares requested settings with the database's effective ones. */
#ifndef COMMITPATH_SETTINGS_H
#define COMMITPATH_SETTINGS_H

#include "engine.h"
#include "json.h"
#include "options.h"

/* Reads every requested setting of the database of that number back and keeps the answers. An error
 * when one is not what was requested. */
bool settings_check(struct database *database, size_t number, const struct options *options,
		    struct error *error);

/* Write the objects of config.json: `requested`; `effective`, in that database. */
void settings_write_requested(struct json *json, const struct options *options);
void settings_write_effective(struct json *json, size_t number);

#endif
