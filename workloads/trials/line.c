#include "line.h"

#include <stdio.h>
#include <string.h>

#include "output.h"

uint64_t line_hash(const char *line)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *line != '\0' && *line != '\n'; line++)
		hash = (hash ^ (unsigned char)*line) * UINT64_C(0x100000001b3);
	return hash;
}

void line_announce(const char *line, const char *path)
{
	char text[48];

	snprintf(text, sizeof(text), "trials: %.*s", (int)strcspn(line, " \n"), line);
	output_say(path, text);
}
