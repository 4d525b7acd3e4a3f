/* How a transaction is rendered. */
#ifndef COMMITPATH_LEVELDB_TRANSACTIONS_H
#define COMMITPATH_LEVELDB_TRANSACTIONS_H

#include <stdint.h>

#include "database.h"

/* How an operation is rendered; its value follows. */
struct head {
	unsigned char kind;
	unsigned char key[sizeof(uint64_t)];
	unsigned char size[sizeof(uint32_t)]; /* of the value, the largest byte first */
};

#endif
