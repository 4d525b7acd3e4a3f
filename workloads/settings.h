/* The settings a run asks for, and what the database says it does. */
#ifndef COMMITPATH_SETTINGS_H
#define COMMITPATH_SETTINGS_H

#include "engine.h"
#include "json.h"
#include "options.h"

/* Reads every requested setting back and keeps the answers. An error when one is not what was
 * requested. */
bool settings_check(struct database *database, const struct options *options, struct error *error);

/* Writes the objects of config.json: `requested`, `effective`. */
void settings_write(struct json *json, const struct options *options);

#endif
