/* For CACHE=cold: drops the page cache before the measurement, and checks that no page of a
 * database is left in it. */
#pragma once

#include "options.h"

/* Writes 3 to the file `drop` (/proc/sys/vm/drop_caches), which drops the clean pages, dentries and
 * inodes of all filesystems. Ends the run if a page of a database is still in memory afterwards. */
void cold_begin(const char *drop, const struct options *options);
