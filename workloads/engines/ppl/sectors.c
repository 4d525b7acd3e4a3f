/* In-memory index of SQLite/PPL's log: finds a page's sector by a hash table, takes free sectors
 * and frees them, and counts the records in each. */
#include "pages.h"

#include <string.h>

uint32_t sector_find(const struct page_log *pages, uint32_t page)
{
	uint32_t at = pages->heads[page % pages->count];

	while (at != 0 && pages->sectors[at - 1].page != page)
		at = pages->sectors[at - 1].next;
	return at;
}

void sector_take(struct page_log *pages, uint32_t sector, uint32_t page, uint64_t epoch)
{
	uint32_t *head = &pages->heads[page % pages->count];

	pages->sectors[sector] = (struct sector){page, SECTOR_HEADER, *head, epoch, {0}};
	*head = sector + 1;
}

void sector_count(struct page_log *pages, uint32_t sector, uint32_t check)
{
	struct tally *const of[] = {&pages->sectors[sector].has, &pages->has};

	for (int i = 0; i < 2; i++) {
		of[i]->records++;
		of[i]->checks += check;
	}
}

void sector_drop(struct page_log *pages, uint32_t sector)
{
	uint32_t *link = &pages->heads[pages->sectors[sector].page % pages->count];

	while (*link != sector + 1)
		link = &pages->sectors[*link - 1].next;
	*link = pages->sectors[sector].next;
	pages->has.records -= pages->sectors[sector].has.records;
	pages->has.checks -= pages->sectors[sector].has.checks;
	pages->sectors[sector].page = 0;
	pages->free[pages->free_count++] = sector;
}

void sectors_clear(struct page_log *pages)
{
	memset(pages->heads, 0, pages->count * sizeof(*pages->heads));
	memset(pages->sectors, 0, pages->count * sizeof(*pages->sectors));
	pages->has = (struct tally){0};
	pages->free_count = pages->count;
	/* the first is taken first */
	for (uint32_t i = 0; i < pages->count; i++)
		pages->free[i] = pages->count - 1 - i;
}

int64_t sector_offset(const struct page_log *pages, uint32_t sector)
{
	return pages->first + (int64_t)sector * pages->size;
}

/* The first sector lies at a multiple of their size. */
static int64_t begin(uint32_t size)
{
	return (LOG_RECORDS + size - 1) / size * size;
}

uint32_t sectors_in(int64_t log_size, uint32_t size)
{
	return log_size > begin(size) ? (uint32_t)((log_size - begin(size)) / size) : 0;
}

int sectors_make(struct page_log *pages, int64_t log_size, uint32_t size)
{
	pages->size = size;
	pages->first = begin(size);
	pages->count = sectors_in(log_size, size);
	pages->sectors = sqlite3_malloc64(pages->count * sizeof(*pages->sectors));
	pages->heads = sqlite3_malloc64(pages->count * sizeof(*pages->heads));
	pages->free = sqlite3_malloc64(pages->count * sizeof(*pages->free));
	if (pages->sectors == NULL || pages->heads == NULL || pages->free == NULL)
		return SQLITE_NOMEM;
	sectors_clear(pages);
	return SQLITE_OK;
}

void sectors_free(struct page_log *pages)
{
	sqlite3_free(pages->sectors);
	sqlite3_free(pages->heads);
	sqlite3_free(pages->free);
	sqlite3_free(pages->all);
}
