/* What can be requested of it. */
#ifndef COMMITPATH_SSL_SETTINGS_H
#define COMMITPATH_SSL_SETTINGS_H

#include "driver.h"

/* Numbers in engine_settings, behind those of driver.h. */
enum { LOG_SIZE = CACHE_SIZE + 1, LOG_FULL, DIRTY_PAGES, LOG_MEDIUM, NOT_REPEATABLE };

#endif
