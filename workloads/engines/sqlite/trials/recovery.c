/* A hook of crash trials (trials/recovered.h) that reports nothing: SQLite has no call that
 * returns how a recovery went. */
#include "trials/recovered.h"

bool engine_recovery(struct database *database, struct recovery *recovery)
{
	return false;
}
