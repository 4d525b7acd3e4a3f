#include "sha256.h"

#include <stdio.h>
#include <string.h>

/* Fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

/* Fractional parts of the square roots of the first 8 primes. */
static const uint32_t initial_state[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t rotate(uint32_t x, int n)
{
	return (x >> n) | (x << (32 - n));
}

static uint32_t load(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       (uint32_t)bytes[3];
}

/* One round on the eight working variables. Each caller names them one place on, so that no
 * value moves: a run hashes megabytes on the board's emulated CPU. */
static inline void mix_round(const uint32_t a, const uint32_t b, const uint32_t c, uint32_t *d,
			     const uint32_t e, const uint32_t f, const uint32_t g, uint32_t *h,
			     uint32_t constant_and_word)
{
	uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
	uint32_t choice = (e & f) ^ (~e & g);
	uint32_t t1 = *h + s1 + choice + constant_and_word;
	uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
	uint32_t majority = (a & b) ^ (a & c) ^ (b & c);

	*d += t1;
	*h = t1 + s0 + majority;
}

static void mix_block(struct sha256 *hash, const unsigned char *block)
{
	const uint32_t *k = round_constants;
	uint32_t *s = hash->state;
	uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
	uint32_t w[64];

	for (int i = 0; i < 16; i++)
		w[i] = load(block + 4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
		uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
	for (int i = 0; i < 64; i += 8) {
		mix_round(a, b, c, &d, e, f, g, &h, k[i] + w[i]);
		mix_round(h, a, b, &c, d, e, f, &g, k[i + 1] + w[i + 1]);
		mix_round(g, h, a, &b, c, d, e, &f, k[i + 2] + w[i + 2]);
		mix_round(f, g, h, &a, b, c, d, &e, k[i + 3] + w[i + 3]);
		mix_round(e, f, g, &h, a, b, c, &d, k[i + 4] + w[i + 4]);
		mix_round(d, e, f, &g, h, a, b, &c, k[i + 5] + w[i + 5]);
		mix_round(c, d, e, &f, g, h, a, &b, k[i + 6] + w[i + 6]);
		mix_round(b, c, d, &e, f, g, h, &a, k[i + 7] + w[i + 7]);
	}
	s[0] += a;
	s[1] += b;
	s[2] += c;
	s[3] += d;
	s[4] += e;
	s[5] += f;
	s[6] += g;
	s[7] += h;
}

void sha256_begin(struct sha256 *hash)
{
	memcpy(hash->state, initial_state, sizeof(initial_state));
	hash->length = 0;
}

void sha256_add(struct sha256 *hash, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	while (size > 0) {
		size_t used = hash->length % SHA256_BLOCK;
		size_t part = SHA256_BLOCK - used < size ? SHA256_BLOCK - used : size;

		memcpy(hash->block + used, bytes, part);
		hash->length += part;
		bytes += part;
		size -= part;
		if (used + part == SHA256_BLOCK)
			mix_block(hash, hash->block);
	}
}

void sha256_end(struct sha256 *hash, char hex[SHA256_HEX])
{
	static const unsigned char padding[SHA256_BLOCK] = {0x80};
	uint64_t bits = hash->length * 8;
	size_t used = hash->length % SHA256_BLOCK;
	unsigned char length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(hash, padding, used < 56 ? 56 - used : 120 - used);
	sha256_add(hash, length, sizeof(length));
	for (int i = 0; i < 8; i++)
		snprintf(hex + (size_t)8 * i, 9, "%08x", (unsigned)hash->state[i]);
}
