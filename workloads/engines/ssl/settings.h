/* The engine's own settings. */
#ifndef COMMITPATH_SSL_SETTINGS_H
#define COMMITPATH_SSL_SETTINGS_H

#include "driver.h"

/* Indexes in engine.settings, after those of driver.h. */
enum { LOG_FULL = DRIVER_SETTINGS, NOT_REPEATABLE, SYNCHRONOUS, CHECKPOINT_WRITE, RECOVERY_RULE };

#endif
