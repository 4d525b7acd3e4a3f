/* SHA-256 (FIPS 180-4). */
#ifndef COMMITPATH_SHA256_H
#define COMMITPATH_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BLOCK = 64, SHA256_HEX = 65 };

struct sha256 {
	uint32_t state[8];
	uint64_t length; /* bytes so far */
	unsigned char block[SHA256_BLOCK];
};

/* Starts a hash. */
void sha256_begin(struct sha256 *hash);

/* Adds `size` bytes. */
void sha256_add(struct sha256 *hash, const void *data, size_t size);

/* Ends the hash: 64 hex digits and a NUL. */
void sha256_end(struct sha256 *hash, char hex[SHA256_HEX]);

#endif
