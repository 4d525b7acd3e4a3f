/* SQLite's options shared by every engine made from it: entries of engine.settings, with indexes
 * PAGE_SIZE and CACHE_SIZE. */
#ifndef COMMITPATH_SQLITE_PAGE_SETTINGS_H
#define COMMITPATH_SQLITE_PAGE_SETTINGS_H

#define PAGE_SIZE_SETTING                                     \
	{.name = "page-size",                                 \
	 .key = "page_size",                                  \
	 .argument = "BYTES",                                 \
	 SETTING(PAGE_SIZE),                                  \
	 .help = "page size of the database, a power of two", \
	 INTEGER(512, 65536),                                 \
	 .power_of_two = true,                                \
	 .preset = "4096",                                    \
	 .commands = COMMAND_POPULATE | COMMAND_RUN}
#define CACHE_SIZE_SETTING                                         \
	{.name = "cache-size",                                     \
	 .key = "cache_size",                                      \
	 .argument = "SIZE",                                       \
	 SETTING(CACHE_SIZE),                                      \
	 .help = "PRAGMA cache_size: pages, or KiB when negative", \
	 INTEGER(INT32_MIN + 1, INT32_MAX),                        \
	 .preset = "-2000",                                        \
	 .commands = COMMAND_RUN}

#endif
