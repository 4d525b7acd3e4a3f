/* A hook of crash trials (trials/recovered.h): reports the state that SQLite/SSL's recovery found,
 * and how many transactions it executed again. */
#include "trials/recovered.h"

#include <stdio.h>

#include "engines/sqlite/sql.h"
#include "engines/ssl/ssl.h"

bool engine_recovery(struct database *database, struct recovery *recovery)
{
	struct ssl_stats stats = ssl_stats(database->own);

	snprintf(recovery->met, sizeof(recovery->met), "%s", ssl_cases[stats.found]);
	recovery->replayed = stats.replayed;
	return true;
}
