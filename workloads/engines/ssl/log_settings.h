/* The options of every engine with a log (log-size, dirty-pages, log-medium, …), as entries of its
 * option table, in the order of driver.h. */
#pragma once

#include "page_settings.h"

/* In the order of enum ssl_medium. */
static const char *const log_media[] = {"fdatasync", "msync", "pcm", NULL};

#define LOG_SETTINGS                                                                               \
	PAGE_SIZE_SETTING, CACHE_SIZE_SETTING,                                                     \
		{SETTING("log-size", "log_size", LOG_SIZE), INTEGER("BYTES", 4096, 1 << 30),       \
		 .preset = "1048576", .help = "size of the log"},                                  \
		{SETTING("dirty-pages", "dirty_pages", DIRTY_PAGES),                               \
		 INTEGER("PAGES", 0, INT32_MAX), .preset = "1024",                                 \
		 .help = "more pages than these make a commit a checkpoint; 0: any number"},       \
		{SETTING("log-medium", "log_medium", LOG_MEDIUM), WORD("MEDIUM", log_media),       \
		 .preset = "fdatasync", .help = "how a record is made durable"},                   \
		{SETTING("pcm-line", "pcm_line", PCM_LINE), INTEGER("BYTES", 4, 4096),             \
		 .power_of_two = true, .preset = "64",                                             \
		 .help = "what persistent memory is written by; a power of two"},                  \
		{SETTING("pcm-write-ns", "pcm_write_ns", PCM_WRITE_NS), INTEGER("NS", 0, 1000000), \
		 .preset = "7500", .help = "what each such line takes"}
