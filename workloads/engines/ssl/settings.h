/* What can be requested of it. */
#ifndef COMMITPATH_SSL_SETTINGS_H
#define COMMITPATH_SSL_SETTINGS_H

#include "driver.h"

/* Numbers in engine.settings, behind those of driver.h. */
enum { LOG_FULL = DRIVER_SETTINGS, NOT_REPEATABLE, SYNCHRONOUS, CHECKPOINT_WRITE, RECOVERY_RULE };

#endif
