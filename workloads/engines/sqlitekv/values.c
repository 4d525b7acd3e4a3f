/* Applies a column's affinity to a SQL value, and encodes and decodes the columns of a row that
 * are in LevelDB's value.
 *
 * A row is a byte for the format, a type for each column that is kept, and their contents. Types
 * are those of SQLite's record format (fileformat2.html, 2.1).
 */
#include "values.h"

#include <string.h>

enum { ROW_FORMAT = 1 };

/* Types of a record. */
enum { RECORD_NULL, RECORD_INT64 = 6, RECORD_REAL, RECORD_ZERO, RECORD_ONE, RECORD_BLOB = 12 };
static const unsigned char integer_sizes[] = {0, 1, 2, 3, 4, 6, 8};

/* Whether a real is a whole number that SQLite stores as an integer. */
static bool is_whole(double real)
{
	return real >= -9223372036854774784.0 && real <= 9223372036854774784.0 &&
	       real == (double)(sqlite3_int64)real;
}

static int load_text(struct field *field, sqlite3_value *value)
{
	field->type = SQLITE_TEXT;
	field->bytes.data = sqlite3_value_text(value);
	field->bytes.size = (size_t)sqlite3_value_bytes(value);
	return field->bytes.data != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int load_blob(struct field *field, sqlite3_value *value)
{
	field->bytes.data = sqlite3_value_blob(value);
	field->bytes.size = (size_t)sqlite3_value_bytes(value);
	return field->bytes.data != NULL || field->bytes.size == 0 ? SQLITE_OK : SQLITE_NOMEM;
}

int field_load(struct field *field, sqlite3_value *value, char affinity)
{
	bool is_numeric = affinity == 'I' || affinity == 'N' || affinity == 'R';

	field->type = sqlite3_value_type(value);
	if (is_numeric && field->type == SQLITE_TEXT)
		field->type = sqlite3_value_numeric_type(value);
	field->bytes = (struct slice){NULL, 0};
	switch (field->type) {
	case SQLITE_INTEGER:
		if (affinity == 'T')
			return load_text(field, value);
		field->integer = sqlite3_value_int64(value);
		if (affinity == 'R') {
			field->type = SQLITE_FLOAT;
			field->real = (double)field->integer;
		}
		return SQLITE_OK;
	case SQLITE_FLOAT:
		if (affinity == 'T')
			return load_text(field, value);
		field->real = sqlite3_value_double(value);
		if ((affinity == 'I' || affinity == 'N') && is_whole(field->real)) {
			field->type = SQLITE_INTEGER;
			field->integer = (sqlite3_int64)field->real;
		}
		/* SQLite stores it as the integer 0 */
		if (affinity == 'R' && field->real == 0)
			field->real = 0;
		return SQLITE_OK;
	case SQLITE_TEXT:
		return load_text(field, value);
	case SQLITE_BLOB:
		return load_blob(field, value);
	default:
		return SQLITE_OK;
	}
}

static uint64_t integer_type(sqlite3_int64 integer)
{
	uint64_t type = 1;

	if (integer == 0 || integer == 1)
		return integer == 0 ? RECORD_ZERO : RECORD_ONE;
	while (type < RECORD_INT64) {
		sqlite3_int64 limit = (sqlite3_int64)1 << (8 * integer_sizes[type] - 1);

		if (integer >= -limit && integer < limit)
			break;
		type++;
	}
	return type;
}

static uint64_t type_of(const struct field *field)
{
	switch (field->type) {
	case SQLITE_INTEGER:
		return integer_type(field->integer);
	case SQLITE_FLOAT:
		return RECORD_REAL;
	case SQLITE_TEXT:
		return RECORD_BLOB + 1 + 2 * field->bytes.size;
	case SQLITE_BLOB:
		return RECORD_BLOB + 2 * field->bytes.size;
	default:
		return RECORD_NULL;
	}
}

static size_t size_of(uint64_t type)
{
	if (type >= RECORD_BLOB)
		return (size_t)(type - RECORD_BLOB) / 2;
	if (type <= RECORD_INT64)
		return integer_sizes[type];
	return type == RECORD_REAL ? sizeof(double) : 0;
}

void row_write(struct bytes *row, const struct kv_schema *schema, const struct field *fields)
{
	bytes_clear(row);
	bytes_add_byte(row, ROW_FORMAT);
	for (int i = 0; i < schema->count; i++)
		if (schema->columns[i].kept)
			bytes_add_varint(row, type_of(&fields[i]));
	for (int i = 0; i < schema->count; i++) {
		uint64_t type = type_of(&fields[i]), bits;

		if (!schema->columns[i].kept)
			continue;
		if (type >= RECORD_BLOB) {
			bytes_add(row, fields[i].bytes.data, fields[i].bytes.size);
		} else if (type == RECORD_REAL) {
			memcpy(&bits, &fields[i].real, sizeof(bits));
			bytes_add_number(row, bits, sizeof(bits));
		} else {
			bytes_add_number(row, (uint64_t)fields[i].integer, size_of(type));
		}
	}
}

static bool read_content(struct slice *row, uint64_t type, struct field *field)
{
	size_t size = size_of(type);
	uint64_t bits = 0;

	field->bytes = (struct slice){NULL, 0};
	if (type >= RECORD_BLOB) {
		field->type = type % 2 == 0 ? SQLITE_BLOB : SQLITE_TEXT;
		return slice_take(row, size, &field->bytes);
	}
	if (type > RECORD_ONE || !slice_take_number(row, size, &bits))
		return false;
	switch (type) {
	case RECORD_NULL:
		field->type = SQLITE_NULL;
		break;
	case RECORD_REAL:
		field->type = SQLITE_FLOAT;
		memcpy(&field->real, &bits, sizeof(bits));
		break;
	case RECORD_ZERO:
	case RECORD_ONE:
		field->type = SQLITE_INTEGER;
		field->integer = type == RECORD_ONE;
		break;
	default:
		field->type = SQLITE_INTEGER;
		/* with the sign of its first byte */
		if (size < sizeof(bits) && bits >> (8 * size - 1) != 0)
			bits |= ~UINT64_C(0) << 8 * size;
		field->integer = (sqlite3_int64)bits;
	}
	return true;
}

bool row_read(struct slice row, const struct kv_schema *schema, int column, struct field *field)
{
	uint64_t type = RECORD_NULL, found = RECORD_NULL, format;
	size_t before = 0;
	struct slice skipped;

	if (!slice_take_number(&row, 1, &format) || format != ROW_FORMAT)
		return false;
	for (int i = 0; i < schema->count; i++) {
		if (!schema->columns[i].kept)
			continue;
		if (!slice_take_varint(&row, &type))
			return false;
		if (i < column)
			before += size_of(type);
		else if (i == column)
			found = type;
	}
	return slice_take(&row, before, &skipped) && read_content(&row, found, field);
}
