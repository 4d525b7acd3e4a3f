/* Keeps SQLite's WAL in memory: SQLite writes and reads frames here, and checkpoints take pages
 * from them. A page's older committed version is freed: the only connection never reads it. */
#include <string.h>

#include "state.h"

enum { FIRST_FRAMES = 64, FIRST_PAGES = 256 };

uint32_t frame_page(const struct frame *frame)
{
	return get32be(frame->header);
}

uint32_t frame_size(const struct frame *frame)
{
	return get32be(frame->header + 4);
}

/* Returns a page's place in the table, existing or new. */
static uint32_t *slot_of(const struct memory *memory, uint32_t page)
{
	uint32_t mask = memory->page_room - 1;
	uint32_t at = page * UINT32_C(2654435761) & mask;

	while (memory->pages[at] != 0 && frame_page(&memory->frames[memory->pages[at] - 1]) != page)
		at = (at + 1) & mask;
	return &memory->pages[at];
}

/* Makes room for as many pages as there may be frames, so that a commit cannot fail. */
static int reserve_pages(struct memory *memory)
{
	struct memory larger = *memory;

	if (memory->page_room >= 2 * (memory->count + 1))
		return SQLITE_OK;
	larger.page_room = memory->page_room > 0 ? 2 * memory->page_room : FIRST_PAGES;
	larger.pages = sqlite3_malloc64(larger.page_room * sizeof(*larger.pages));
	if (larger.pages == NULL)
		return SQLITE_NOMEM;
	memset(larger.pages, 0, larger.page_room * sizeof(*larger.pages));
	for (uint32_t i = 0; i < memory->page_room; i++)
		if (memory->pages[i] != 0)
			*slot_of(&larger, frame_page(&memory->frames[memory->pages[i] - 1])) =
				memory->pages[i];
	sqlite3_free(memory->pages);
	*memory = larger;
	return SQLITE_OK;
}

static void free_page(struct memory *memory, struct frame *frame)
{
	if (frame->page != NULL)
		memory->bytes -= memory->page_size;
	sqlite3_free(frame->page);
	frame->page = NULL;
}

static int add_frame(struct memory *memory)
{
	struct frame *frame;

	if (memory->count == memory->room) {
		uint32_t room = memory->room > 0 ? 2 * memory->room : FIRST_FRAMES;
		void *frames = sqlite3_realloc64(memory->frames, room * sizeof(*memory->frames));

		if (frames == NULL)
			return SQLITE_NOMEM;
		memory->frames = frames;
		memory->room = room;
	}
	TRY(reserve_pages(memory));
	frame = &memory->frames[memory->count];
	memset(frame, 0, sizeof(*frame));
	frame->page = sqlite3_malloc64(memory->page_size);
	if (frame->page == NULL)
		return SQLITE_NOMEM;
	memset(frame->page, 0, memory->page_size);
	memory->count++;
	memory->bytes += memory->page_size;
	return SQLITE_OK;
}

static void drop_frames(struct memory *memory, uint32_t left)
{
	while (memory->count > left)
		free_page(memory, &memory->frames[--memory->count]);
}

void memory_clear(struct memory *memory)
{
	drop_frames(memory, 0);
	sqlite3_free(memory->frames);
	sqlite3_free(memory->pages);
	*memory = (struct memory){0};
}

static int write_header(struct memory *memory, const uint8_t *data, int size)
{
	if (size != WAL_HEADER || memory->committed != memory->copied)
		return SQLITE_IOERR_WRITE;
	memory_clear(memory);
	memcpy(memory->header, data, WAL_HEADER);
	memory->page_size = get32be(data + 8);
	memory->begun = true;
	return SQLITE_OK;
}

/* A part of a frame's header or page. */
static int write_part(struct memory *memory, uint32_t number, uint32_t at, const uint8_t *data,
		      uint32_t size)
{
	struct frame *frame;
	int result = SQLITE_OK;

	if (number <= memory->committed || number > memory->count + 1)
		return SQLITE_IOERR_WRITE;
	if (number > memory->count)
		result = add_frame(memory);
	if (result != SQLITE_OK)
		return result;
	frame = &memory->frames[number - 1];
	if (frame->page == NULL)
		return SQLITE_IOERR_WRITE;
	if (at >= FRAME_HEADER) {
		memcpy(frame->page + at - FRAME_HEADER, data, size);
		return SQLITE_OK;
	}
	memcpy(frame->header + at, data, size);
	if (number <= memory->ends)
		memory->ends = memory->committed;
	if (frame_size(frame) != 0)
		memory->ends = number;
	return SQLITE_OK;
}

int memory_write(struct memory *memory, const uint8_t *data, int size, int64_t offset)
{
	uint32_t whole = FRAME_HEADER + memory->page_size;

	if (offset == 0)
		return write_header(memory, data, size);
	if (!memory->begun || offset < WAL_HEADER)
		return SQLITE_IOERR_WRITE;
	while (size > 0) {
		uint32_t number = (uint32_t)((offset - WAL_HEADER) / whole) + 1;
		uint32_t at = (uint32_t)((offset - WAL_HEADER) % whole);
		uint32_t left = (at < FRAME_HEADER ? FRAME_HEADER : whole) - at;
		uint32_t part = (uint32_t)size < left ? (uint32_t)size : left;
		int result = write_part(memory, number, at, data, part);

		if (result != SQLITE_OK)
			return result;
		data += part;
		offset += part;
		size -= (int)part;
	}
	return SQLITE_OK;
}

int64_t memory_size(const struct memory *memory)
{
	if (!memory->begun)
		return 0;
	return WAL_HEADER + (int64_t)memory->count * (FRAME_HEADER + memory->page_size);
}

int memory_read(const struct memory *memory, uint8_t *data, int size, int64_t offset)
{
	uint32_t whole = FRAME_HEADER + memory->page_size;

	while (size > 0 && offset < memory_size(memory)) {
		const uint8_t *from = memory->header + offset;
		uint32_t left = (uint32_t)(WAL_HEADER - offset), part;

		if (offset >= WAL_HEADER) {
			uint32_t at = (uint32_t)((offset - WAL_HEADER) % whole);
			const struct frame *frame = &memory->frames[(offset - WAL_HEADER) / whole];

			if (frame->page == NULL)
				return SQLITE_IOERR_READ;
			from = at < FRAME_HEADER ? frame->header + at
						 : frame->page + at - FRAME_HEADER;
			left = (at < FRAME_HEADER ? FRAME_HEADER : whole) - at;
		}
		part = (uint32_t)size < left ? (uint32_t)size : left;
		memcpy(data, from, part);
		data += part;
		offset += part;
		size -= (int)part;
	}
	if (size <= 0)
		return SQLITE_OK;
	memset(data, 0, (size_t)size);
	return SQLITE_IOERR_SHORT_READ;
}

int memory_truncate(struct memory *memory, int64_t size)
{
	uint32_t left;

	if (size >= memory_size(memory))
		return SQLITE_OK;
	if (size < WAL_HEADER) {
		if (memory->committed != memory->copied)
			return SQLITE_IOERR_TRUNCATE;
		memory_clear(memory);
		return SQLITE_OK;
	}
	left = (uint32_t)((size - WAL_HEADER) / (FRAME_HEADER + memory->page_size));
	if (left < memory->committed || left < memory->ends)
		return SQLITE_IOERR_TRUNCATE;
	drop_frames(memory, left);
	return SQLITE_OK;
}

void memory_commit(struct memory *memory)
{
	for (uint32_t number = memory->committed + 1; number <= memory->ends; number++) {
		uint32_t *slot = slot_of(memory, frame_page(&memory->frames[number - 1]));

		if (*slot <= memory->copied || memory->frames[*slot - 1].merged)
			memory->dirty++;
		if (*slot != 0)
			free_page(memory, &memory->frames[*slot - 1]);
		*slot = number;
	}
	memory->committed = memory->ends;
	drop_frames(memory, memory->committed);
}

void memory_copied(struct memory *memory, uint32_t frames)
{
	memory->copied = frames;
	memory->dirty = 0;
	for (uint32_t number = frames + 1; number <= memory->committed; number++)
		memory->dirty += memory->frames[number - 1].page != NULL;
}

const uint8_t *memory_page(const struct memory *memory, uint32_t page)
{
	uint32_t number = memory->page_room > 0 ? *slot_of(memory, page) : 0;

	return number > 0 ? memory->frames[number - 1].page : NULL;
}

void memory_merged(struct memory *memory, uint32_t page, uint32_t frames)
{
	uint32_t number = *slot_of(memory, page);
	struct frame *frame;

	if (number == 0 || number > frames)
		return;
	frame = &memory->frames[number - 1];
	if (!frame->merged)
		memory->dirty--;
	frame->merged = true;
}
