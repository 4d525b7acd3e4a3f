/* How a transaction is rendered. */
#ifndef COMMITPATH_LEVELDB_TRANSACTIONS_H
#define COMMITPATH_LEVELDB_TRANSACTIONS_H

#include <stdint.h>

#include "database.h"

/* How an operation is rendered; its value follows, or of a scan the number of rows in eight bytes.
 */
struct head {
	unsigned char kind;
	unsigned char key[sizeof(uint64_t)];
	unsigned char size[sizeof(uint32_t)]; /* of what follows, the largest byte first */
};

bool transaction_render(struct database *database, const struct transaction *transaction,
			struct rendered *rendered, struct error *error);
bool transaction_commit(struct database *database, struct outcome *outcome, struct error *error);

#endif
