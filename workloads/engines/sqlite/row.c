/* What a transaction reads: an app looks at each value of each row. */
#include "sql.h"

/* Bytes of a number, as an app has it. */
enum { NUMBER_BYTES = 8 };

void sql_count_row(sqlite3_stmt *statement, struct outcome *outcome)
{
	int columns = sqlite3_column_count(statement);

	outcome->rows++;
	for (int i = 0; i < columns; i++)
		switch (sqlite3_column_type(statement, i)) {
		case SQLITE_NULL:
			break;
		case SQLITE_INTEGER:
		case SQLITE_FLOAT:
			outcome->bytes += NUMBER_BYTES;
			break;
		default:
			/* a text's as UTF-8, as most apps want it */
			outcome->bytes += sqlite3_column_bytes(statement, i);
		}
}
