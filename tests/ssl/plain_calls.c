/* The calls of ssl.h that are about statements, for a log that is not: each is SQLite's own. */
#include "ssl.h"

int ssl_prepare(struct ssl *ssl, const char *sql, int bytes, struct ssl_stmt **statement,
		const char **tail)
{
	sqlite3_stmt *made;
	int result = sqlite3_prepare_v2(ssl_db(ssl), sql, bytes, &made, tail);

	*statement = (struct ssl_stmt *)made;
	return result;
}

sqlite3_stmt *ssl_statement(struct ssl_stmt *statement)
{
	return (sqlite3_stmt *)statement;
}

#define BIND(name, parameters, ...)                                                \
	int ssl_bind_##name parameters                                             \
	{                                                                          \
		return sqlite3_bind_##name(ssl_statement(statement), __VA_ARGS__); \
	}
BIND(null, (struct ssl_stmt * statement, int index), index)
BIND(int64, (struct ssl_stmt * statement, int index, int64_t value), index, value)
BIND(double, (struct ssl_stmt * statement, int index, double value), index, value)
BIND(zeroblob, (struct ssl_stmt * statement, int index, int bytes), index, bytes)
BIND(text, (struct ssl_stmt * statement, int index, const char *value, int bytes), index, value,
     bytes, SQLITE_TRANSIENT)
BIND(text16, (struct ssl_stmt * statement, int index, const void *value, int bytes), index, value,
     bytes, SQLITE_TRANSIENT)
BIND(blob, (struct ssl_stmt * statement, int index, const void *value, int bytes), index, value,
     bytes, SQLITE_TRANSIENT)

int ssl_step(struct ssl_stmt *statement)
{
	return sqlite3_step(ssl_statement(statement));
}

int ssl_finalize(struct ssl_stmt *statement)
{
	return sqlite3_finalize(ssl_statement(statement));
}

int ssl_exec(struct ssl *ssl, const char *sql)
{
	return sqlite3_exec(ssl_db(ssl), sql, NULL, NULL, NULL);
}

int ssl_blob_write(struct ssl *ssl, sqlite3_blob *blob, const void *data, int bytes, int offset)
{
	return sqlite3_blob_write(blob, data, bytes, offset);
}
