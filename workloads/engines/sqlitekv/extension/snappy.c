/* Replaces the Snappy functions that LevelDB calls, in the loadable extension: nothing is
 * compressed, and a compressed block is damage. Debian's Snappy is not for shared objects. C++'s
 * names, on a machine of 64 bits. */
#include <stdbool.h>
#include <stddef.h>

size_t max_compressed_length(size_t size) __asm__("_ZN6snappy19MaxCompressedLengthEm");
void raw_compress(const char *data, size_t size, char *compressed,
		  size_t *length) __asm__("_ZN6snappy11RawCompressEPKcmPcPm");
bool raw_uncompress(const char *data, size_t size,
		    char *text) __asm__("_ZN6snappy13RawUncompressEPKcmPc");
bool uncompressed_length(const char *data, size_t size,
			 size_t *length) __asm__("_ZN6snappy21GetUncompressedLengthEPKcmPm");

size_t max_compressed_length(size_t size)
{
	return size;
}

void raw_compress(const char *data, size_t size, char *compressed, size_t *length)
{
	*length = size;
}

bool raw_uncompress(const char *data, size_t size, char *text)
{
	return false;
}

bool uncompressed_length(const char *data, size_t size, size_t *length)
{
	return false;
}
