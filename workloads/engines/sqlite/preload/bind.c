/* Wrappers of sqlite3_bind_…, which record the values given to a statement. A value is recorded
 * before SQLite has it, which may free it. */
#include <string.h>

#include "record.h"

#define EXPORT __attribute__((visibility("default")))
/* sqlite3.h; these numbers never change */
enum { UTF8 = 1, UTF16BE = 3 };
enum { INTEGER = 1, REAL, TEXT, BLOB };

#define LIBRARY library_of(__builtin_return_address(0))

EXPORT int sqlite3_bind_null(sqlite3_stmt *statement, int index)
{
	text_null(record_value(statement, index));
	return LIBRARY->bind_null(statement, index);
}

#define BIND(name, type, record)                                                       \
	EXPORT int sqlite3_bind_##name(sqlite3_stmt *statement, int index, type value) \
	{                                                                              \
		record(record_value(statement, index), value);                         \
		return LIBRARY->bind_##name(statement, index, value);                  \
	}
BIND(int, int, text_integer)
BIND(int64, int64_t, text_integer)
BIND(double, double, text_real)
BIND(zeroblob, int, text_zeros)
BIND(zeroblob64, uint64_t, text_zeros)

static void note_text(sqlite3_stmt *statement, int index, const char *data, int64_t size)
{
	struct text *value = record_value(statement, index);

	if (data == NULL)
		text_null(value);
	else if (value != NULL)
		text_string(value, data, size < 0 ? strlen(data) : (size_t)size);
}

static void note_wide(sqlite3_stmt *statement, int index, const void *data, int64_t size,
		      bool big_endian)
{
	struct text *value = record_value(statement, index);
	const uint16_t *units = data;
	size_t bytes = size < 0 ? 0 : (size_t)size;

	if (data == NULL)
		text_null(value);
	if (value == NULL || data == NULL)
		return;
	while (size < 0 && units[bytes / 2] != 0)
		bytes += 2;
	text_wide(value, data, bytes, big_endian);
}

static void note_blob(sqlite3_stmt *statement, int index, const void *data, uint64_t size)
{
	struct text *value = record_value(statement, index);

	if (data == NULL)
		text_null(value);
	else if (value != NULL)
		text_blob(value, data, (size_t)size);
}

EXPORT int sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *data, int size,
			     destructor end)
{
	note_text(statement, index, data, size);
	return LIBRARY->bind_text(statement, index, data, size, end);
}

EXPORT int sqlite3_bind_text16(sqlite3_stmt *statement, int index, const void *data, int size,
			       destructor end)
{
	note_wide(statement, index, data, size, false);
	return LIBRARY->bind_text16(statement, index, data, size, end);
}

EXPORT int sqlite3_bind_text64(sqlite3_stmt *statement, int index, const char *data, uint64_t size,
			       destructor end, unsigned char encoding)
{
	if (encoding == UTF8)
		note_text(statement, index, data, (int64_t)size);
	else
		note_wide(statement, index, data, (int64_t)size, encoding == UTF16BE);
	return LIBRARY->bind_text64(statement, index, data, size, end, encoding);
}

EXPORT int sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *data, int size,
			     destructor end)
{
	note_blob(statement, index, data, size > 0 ? (uint64_t)size : 0);
	return LIBRARY->bind_blob(statement, index, data, size, end);
}

EXPORT int sqlite3_bind_blob64(sqlite3_stmt *statement, int index, const void *data, uint64_t size,
			       destructor end)
{
	note_blob(statement, index, data, size);
	return LIBRARY->bind_blob64(statement, index, data, size, end);
}

EXPORT int sqlite3_bind_value(sqlite3_stmt *statement, int index, sqlite3_value *from)
{
	struct library *sqlite = LIBRARY;
	struct text *value = record_value(statement, index);
	const void *data;

	switch (value != NULL ? sqlite->value_type(from) : 0) {
	case 0:
		break;
	case INTEGER:
		text_integer(value, sqlite->value_int64(from));
		break;
	case REAL:
		text_real(value, sqlite->value_double(from));
		break;
	case TEXT:
		data = sqlite->value_text(from);
		note_text(statement, index, data, sqlite->value_bytes(from));
		break;
	case BLOB:
		data = sqlite->value_blob(from);
		/* SQLite gives no address for an empty one */
		note_blob(statement, index, data != NULL ? data : "",
			  (uint64_t)sqlite->value_bytes(from));
		break;
	default:
		text_null(value);
	}
	return sqlite->bind_value(statement, index, from);
}

EXPORT int sqlite3_clear_bindings(sqlite3_stmt *statement)
{
	record_clear(statement);
	return LIBRARY->clear_bindings(statement);
}
