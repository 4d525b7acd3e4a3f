/* Growing byte buffers, a reader that stops at their end, numbers as varints and in either byte
 * order, and CRC-32C. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *data;
	size_t size, room;
	bool failed; /* out of memory */
};

void bytes_add(struct bytes *bytes, const void *data, size_t size);
void bytes_byte(struct bytes *bytes, uint8_t value);
/* Seven bits per byte, least significant first. */
void bytes_number(struct bytes *bytes, uint64_t value);
void bytes_signed(struct bytes *bytes, int64_t value);
void bytes_clear(struct bytes *bytes);
void bytes_free(struct bytes *bytes);

struct reader {
	const uint8_t *next, *end;
	bool bad; /* it went beyond the end */
};

const uint8_t *read_bytes(struct reader *reader, size_t size);
uint8_t read_byte(struct reader *reader);
uint64_t read_number(struct reader *reader);
int64_t read_signed(struct reader *reader);

/* Little-endian. */
void put32(uint8_t *at, uint32_t value);
void put64(uint8_t *at, uint64_t value);
uint32_t get32(const uint8_t *at);
uint64_t get64(const uint8_t *at);

/* Big-endian, as in SQLite's files. */
void put32be(uint8_t *at, uint32_t value);
uint32_t get32be(const uint8_t *at);

/* CRC-32C (RFC 3720, appendix B.4), continued from `crc`; of nothing it is 0. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);
