/* Options of a log, shared by the engines made from it: entries of engine.settings, in the order of
 * driver.h. */
#ifndef COMMITPATH_SSL_LOG_SETTINGS_H
#define COMMITPATH_SSL_LOG_SETTINGS_H

#include "page_settings.h"

/* In the order of enum ssl_medium. */
static const char *const log_media[] = {"fdatasync", "msync", "pcm", NULL};

#define LOG_SIZE_SETTING            \
	{.name = "log-size",        \
	 .key = "log_size",         \
	 .argument = "BYTES",       \
	 SETTING(LOG_SIZE),         \
	 .help = "size of the log", \
	 INTEGER(4096, 1 << 30),    \
	 .preset = "1048576",       \
	 .commands = COMMAND_RUN}
#define DIRTY_PAGES_SETTING                                                         \
	{.name = "dirty-pages",                                                     \
	 .key = "dirty_pages",                                                      \
	 .argument = "PAGES",                                                       \
	 SETTING(DIRTY_PAGES),                                                      \
	 .help = "more pages than these make a commit a checkpoint; 0: any number", \
	 INTEGER(0, INT32_MAX),                                                     \
	 .preset = "1024",                                                          \
	 .commands = COMMAND_RUN}
#define LOG_MEDIUM_SETTING                       \
	{.name = "log-medium",                   \
	 .key = "log_medium",                    \
	 .argument = "MEDIUM",                   \
	 SETTING(LOG_MEDIUM),                    \
	 .help = "how a record is made durable", \
	 WORD(log_media),                        \
	 .preset = "fdatasync",                  \
	 .commands = COMMAND_RUN}
#define PCM_LINE_SETTING                                                 \
	{.name = "pcm-line",                                             \
	 .key = "pcm_line",                                              \
	 .argument = "BYTES",                                            \
	 SETTING(PCM_LINE),                                              \
	 .help = "what persistent memory is written by; a power of two", \
	 INTEGER(4, 4096),                                               \
	 .power_of_two = true,                                           \
	 .preset = "64",                                                 \
	 .commands = COMMAND_RUN}
#define PCM_WRITE_NS_SETTING                  \
	{.name = "pcm-write-ns",              \
	 .key = "pcm_write_ns",               \
	 .argument = "NS",                    \
	 SETTING(PCM_WRITE_NS),               \
	 .help = "what each such line takes", \
	 INTEGER(0, 1000000),                 \
	 .preset = "7500",                    \
	 .commands = COMMAND_RUN}

/* All of them, and before them those of the database. */
#define LOG_SETTINGS                                                                  \
	PAGE_SIZE_SETTING, CACHE_SIZE_SETTING, LOG_SIZE_SETTING, DIRTY_PAGES_SETTING, \
		LOG_MEDIUM_SETTING, PCM_LINE_SETTING, PCM_WRITE_NS_SETTING

#endif
