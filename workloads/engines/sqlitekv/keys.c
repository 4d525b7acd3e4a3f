/* Makes the module's LevelDB keys: encodes the columns of a primary key as bytes in the order in
 * which SQLite compares the values, and decodes them; makes those of a table's schema and sequence.
 *
 * A row's key begins with the number of bytes of the table's id, 1 to 4, and the id. A column is a
 * tag and
 * - a number: the real, or the largest one that is not above the integer, in eight bytes whose
 *   order is that of the reals; from 2^53 on followed by what the integer has more, in two bytes;
 * - a text or blob: its bytes, with 00 FF for each 00, and at its end 00 01. A text as its
 *   collation compares it: NOCASE in lower case, RTRIM without spaces at its end.
 *
 * No column's bytes begin another's, so a key of the first columns begins those of its rows only.
 */
#include "values.h"

#include <string.h>

enum { NUMBER = 0x10, TEXT = 0x20, BLOB = 0x30, AFTER_ALL = 0xff };

/* From here on not every integer is a real. */
#define EXACT_REALS 9007199254740992.0
#define SIGN (UINT64_C(1) << 63)

void key_begin(struct bytes *key, uint32_t table)
{
	size_t size = 1;

	while (size < sizeof(table) && table >> 8 * size != 0)
		size++;
	bytes_clear(key);
	bytes_add_byte(key, (unsigned char)size);
	bytes_add_number(key, table, size);
}

/* Returns the largest real that is not above the integer, and the difference. */
static double floor_of(sqlite3_int64 integer, uint64_t *more)
{
	double real = (double)integer;
	uint64_t bits;

	if (real >= 9223372036854775808.0 || (sqlite3_int64)real > integer) {
		memcpy(&bits, &real, sizeof(bits));
		bits = real > 0 ? bits - 1 : bits + 1;
		memcpy(&real, &bits, sizeof(bits));
	}
	*more = (uint64_t)integer - (uint64_t)(sqlite3_int64)real;
	return real;
}

static bool is_large(double real)
{
	return real >= EXACT_REALS || real <= -EXACT_REALS;
}

static void add_number(struct bytes *key, const struct field *field)
{
	uint64_t more = 0, bits;
	double real = field->type == SQLITE_INTEGER ? floor_of(field->integer, &more) : field->real;

	if (real == 0)
		real = 0; /* without the sign of -0.0 */
	memcpy(&bits, &real, sizeof(bits));
	bytes_add_byte(key, NUMBER);
	bytes_add_number(key, (bits & SIGN) != 0 ? ~bits : bits | SIGN, sizeof(bits));
	if (is_large(real))
		bytes_add_number(key, more, 2);
}

static void add_escaped(struct bytes *key, struct slice bytes)
{
	static const unsigned char zero[] = {0, 0xff};

	while (bytes.size > 0) {
		const unsigned char *end = memchr(bytes.data, 0, bytes.size);
		size_t size = end != NULL ? (size_t)(end - bytes.data) : bytes.size;

		bytes_add(key, bytes.data, size);
		if (end != NULL) {
			bytes_add(key, zero, sizeof(zero));
			size++;
		}
		bytes.data += size;
		bytes.size -= size;
	}
}

/* SQLite's NOCASE compares up to a NUL, and then the lengths. */
static void add_nocase(struct bytes *key, struct slice text)
{
	size_t i = 0;

	for (; i < text.size && text.data[i] != 0; i++) {
		unsigned char letter = text.data[i];

		bytes_add_byte(key, letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter);
	}
	if (i < text.size) {
		bytes_add_number(key, 0xff, 2);
		bytes_add_number(key, text.size, 8);
	}
}

void key_add(struct bytes *key, const struct field *field, enum collation collation)
{
	struct slice bytes = field->bytes;

	if (field->type == SQLITE_INTEGER || field->type == SQLITE_FLOAT) {
		add_number(key, field);
		return;
	}
	bytes_add_byte(key, field->type == SQLITE_TEXT ? TEXT : BLOB);
	if (field->type != SQLITE_TEXT || collation == BINARY) {
		add_escaped(key, bytes);
	} else if (collation == NOCASE) {
		add_nocase(key, bytes);
	} else {
		while (bytes.size > 0 && bytes.data[bytes.size - 1] == ' ')
			bytes.size--;
		add_escaped(key, bytes);
	}
	bytes_add_number(key, 1, 2);
}

void key_add_end(struct bytes *key)
{
	bytes_add_byte(key, AFTER_ALL);
}

bool key_take_table(struct slice *key)
{
	uint64_t size, id;

	return slice_take_number(key, 1, &size) && size >= 1 && size <= 4 &&
	       slice_take_number(key, (size_t)size, &id);
}

static bool take_number(struct slice *key, char affinity, struct field *field)
{
	uint64_t bits, more = 0;
	double real;

	if (!slice_take_number(key, sizeof(bits), &bits))
		return false;
	bits = (bits & SIGN) != 0 ? bits & ~SIGN : ~bits;
	memcpy(&real, &bits, sizeof(bits));
	if (is_large(real) && !slice_take_number(key, 2, &more))
		return false;
	field->type = SQLITE_FLOAT;
	field->real = real;
	if (affinity != 'R' && real >= -9223372036854775808.0 && real < 9223372036854775808.0 &&
	    real == (double)(sqlite3_int64)real) {
		field->type = SQLITE_INTEGER;
		field->integer = (sqlite3_int64)((uint64_t)(sqlite3_int64)real + more);
	}
	return true;
}

static bool take_escaped(struct slice *key, enum collation collation, struct bytes *text)
{
	struct slice part;
	uint64_t mark, size;

	bytes_clear(text);
	for (;;) {
		const unsigned char *end = memchr(key->data, 0, key->size);

		if (end == NULL || !slice_take(key, (size_t)(end - key->data), &part) ||
		    !slice_take_number(key, 2, &mark))
			return false;
		bytes_add(text, part.data, part.size);
		if (mark == 1)
			return !text->failed;
		/* of NOCASE the size of the text follows, which is not escaped */
		if (collation == NOCASE && !slice_take_number(key, 8, &size))
			return false;
		bytes_add_byte(text, 0);
	}
}

bool key_take(struct slice *key, char affinity, enum collation collation, struct field *field,
	      struct bytes *text)
{
	uint64_t tag;

	field->bytes = (struct slice){NULL, 0};
	if (!slice_take_number(key, 1, &tag))
		return false;
	if (tag == NUMBER)
		return take_number(key, affinity, field);
	if (key->size == 0 || !take_escaped(key, tag == TEXT ? collation : BINARY, text))
		return false;
	field->type = tag == TEXT ? SQLITE_TEXT : SQLITE_BLOB;
	field->bytes = bytes_slice(text);
	return tag == TEXT || tag == BLOB;
}

/* Keys that begin with 00 are not of rows. */
void key_of_schema(struct bytes *key, const char *name)
{
	bytes_clear(key);
	bytes_add(key, "\0t", 2);
	for (; *name != '\0'; name++)
		bytes_add_byte(key,
			       (unsigned char)(*name >= 'A' && *name <= 'Z' ? *name + 32 : *name));
}

void key_of_sequence(struct bytes *key, uint32_t table)
{
	bytes_clear(key);
	bytes_add(key, "\0s", 2);
	bytes_add_number(key, table, sizeof(table));
}
