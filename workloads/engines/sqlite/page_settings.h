/* The options page-size and cache-size of every engine made of SQLite, as entries of its option
 * table with the indexes PAGE_SIZE and CACHE_SIZE. */
#pragma once

#define PAGE_SIZE_SETTING                              \
	{SETTING("page-size", "page_size", PAGE_SIZE), \
	 INTEGER("BYTES", 512, 65536),                 \
	 .power_of_two = true,                         \
	 .preset = "4096",                             \
	 .at_populate = true,                          \
	 .help = "page size of the database, a power of two"}
#define CACHE_SIZE_SETTING                                             \
	{SETTING("cache-size", "cache_size", CACHE_SIZE),              \
	 INTEGER("SIZE", INT32_MIN + 1, INT32_MAX), .preset = "-2000", \
	 .help = "PRAGMA cache_size: pages, or KiB when negative"}
