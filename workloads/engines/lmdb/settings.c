/* The option table of the engine lmdb (map size, flags such as MDB_NOSYNC), and what it reports in
 * config.json: version, effective settings, depth and pages of the tree. */
#include <stdio.h>
#include <string.h>

#include "database.h"

static const char *const off_on[] = {"off", "on", NULL};

/* The flag of mdb_env_open that each setting is, 0 for another. */
static const unsigned int flags[] = {[MAP_SIZE] = 0,
				     [NOSYNC] = MDB_NOSYNC,
				     [NOMETASYNC] = MDB_NOMETASYNC,
				     [WRITEMAP] = MDB_WRITEMAP,
				     [MAPASYNC] = MDB_MAPASYNC};
#define SETTINGS (sizeof(flags) / sizeof(flags[0]))

const struct option settings[] = {
	{SETTING("map-size", "map_size", MAP_SIZE), INTEGER("BYTES", 1 << 20, INT64_MAX),
	 .preset = "1073741824", .at_populate = true,
	 .help = "mdb_env_set_mapsize: the most bytes that the database can have"},
	{SETTING("nosync", "nosync", NOSYNC), WORD("SWITCH", off_on), .preset = "off",
	 .help = "MDB_NOSYNC: a commit syncs nothing"},
	{SETTING("nometasync", "nometasync", NOMETASYNC), WORD("SWITCH", off_on), .preset = "off",
	 .help = "MDB_NOMETASYNC: a commit does not sync its meta page"},
	{SETTING("writemap", "writemap", WRITEMAP), WORD("SWITCH", off_on), .preset = "off",
	 .help = "MDB_WRITEMAP: pages are written in the memory map"},
	{SETTING("mapasync", "mapasync", MAPASYNC), WORD("SWITCH", off_on), .preset = "off",
	 .help = "MDB_MAPASYNC: with MDB_WRITEMAP, msync does not wait"},
	{.name = NULL},
};

enum { DEPTH, BRANCH_PAGES, LEAF_PAGES, OVERFLOW_PAGES, LAST_PAGE, PAGE_BYTES, PROPERTIES };
static const char *const property_names[] = {"depth",	       "branch_pages", "leaf_pages",
					     "overflow_pages", "last_page",    "page_size"};
static size_t properties[PROPERTIES];

unsigned int settings_flags(const struct options *options)
{
	unsigned int requested = 0;

	for (size_t i = 0; i < SETTINGS; i++)
		if (flags[i] != 0 && options->settings[i] != 0)
			requested |= flags[i];
	return requested;
}

static const char *version(void)
{
	static char text[32];
	int major, minor, patch;

	mdb_version(&major, &minor, &patch);
	snprintf(text, sizeof(text), "%d.%d.%d", major, minor, patch);
	return text;
}

const char *settings_title(void)
{
	static char title[48];

	snprintf(title, sizeof(title), "LMDB %s", version());
	return title;
}

void settings_write_version(struct json *json)
{
	json_begin(json, engine.name, '{');
	json_text(json, "version", version());
	json_end(json, '}');
}

bool settings_read(struct database *database, size_t index, char *answer, size_t size,
		   struct error *error)
{
	unsigned int effective;
	MDB_envinfo info;

	if (flags[index] == 0) {
		if (!call_succeeded("reading the map's size",
				    mdb_env_info(database->environment, &info), error))
			return false;
		snprintf(answer, size, "%zu", info.me_mapsize);
		return true;
	}
	if (!call_succeeded("reading the flags",
			    mdb_env_get_flags(database->environment, &effective), error))
		return false;
	snprintf(answer, size, "%s", off_on[(effective & flags[index]) != 0]);
	return true;
}

bool settings_read_properties(struct database *database, struct error *error)
{
	MDB_envinfo info;
	MDB_stat stat;

	if (!call_succeeded("reading the environment", mdb_env_info(database->environment, &info),
			    error) ||
	    !call_succeeded("reading the size", mdb_env_stat(database->environment, &stat), error))
		return false;
	properties[DEPTH] = stat.ms_depth;
	properties[BRANCH_PAGES] = stat.ms_branch_pages;
	properties[LEAF_PAGES] = stat.ms_leaf_pages;
	properties[OVERFLOW_PAGES] = stat.ms_overflow_pages;
	properties[LAST_PAGE] = info.me_last_pgno;
	properties[PAGE_BYTES] = stat.ms_psize;
	return true;
}

void settings_write_properties(struct json *json, size_t number)
{
	json_begin(json, "properties", '{');
	for (size_t i = 0; i < PROPERTIES; i++)
		json_digits(json, property_names[i], (int64_t)properties[i]);
	json_end(json, '}');
}
