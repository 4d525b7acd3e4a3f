/* Skips the blanks and comments that a statement begins with, and compares its first word. A
 * program's locale does not matter: in Turkish, I is not the capital of i. */
#pragma once

#include <stdbool.h>
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

static inline char lower_case(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
}

/* Returns whether a text begins with a word, which is in lower case. */
static inline bool begins_with_word(const char *text, const char *word)
{
	while (*word != '\0' && lower_case(*text) == *word) {
		text++;
		word++;
	}
	return *word == '\0';
}
