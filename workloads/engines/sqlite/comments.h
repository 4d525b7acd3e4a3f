/* Skips the blanks and comments that a statement begins with. */
#pragma once

#include <string.h>

static inline const char *skip_comments(const char *sql)
{
	for (;;) {
		sql += strspn(sql, " \t\r\n\f;");
		if (strncmp(sql, "--", 2) == 0) {
			sql += strcspn(sql, "\n");
		} else if (strncmp(sql, "/*", 2) == 0) {
			const char *end = strstr(sql + 2, "*/");

			sql = end != NULL ? end + 2 : sql + strlen(sql);
		} else {
			return sql;
		}
	}
}
