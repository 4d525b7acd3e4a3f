// SPDX-License-Identifier: GPL-2.0-only
/* Computes when a read, write, FLUSH or discard of the flash model ends and what took the time, by
 * controller, bus, write cache and dies; checks parameters, resets the model, cuts its power. */
#include "media.h"

u64 flash_random(u64 *state)
{
	/* splitmix64: any state is valid */
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static bool power_of_two(u64 n)
{
	return n && !(n & (n - 1));
}

const char *flash_check(const struct flash_parameters *p, u64 sectors)
{
	if (p->block_bytes != 512 && p->block_bytes != 4096)
		return "block_bytes is neither 512 nor 4096";
	if (!sectors || sectors % (p->block_bytes / 512))
		return "sectors is not a positive number of blocks";
	if (!power_of_two(p->read_bytes) || !power_of_two(p->program_bytes))
		return "read_bytes or program_bytes is not a power of two";
	if (p->fua && !p->write_cache)
		return "fua needs write_cache: the kernel sends FUA only to a device with a cache";
	if (p->cache_kib && !p->write_cache)
		return "cache_kib needs write_cache: nothing would ever be flushed";
	if (p->cache_kib && p->cache_kib * 1024 < p->program_bytes)
		return "cache_kib is less than program_bytes";
	if (p->cache_kib * 1024 / p->program_bytes > FLASH_MAX_PROGRAMS / 2)
		return "cache_kib is more than 2048 times program_bytes";
	if (p->open_units && p->unit_kib * 1024 % p->program_bytes)
		return "unit_kib is not a multiple of program_bytes";
	if (p->log_kib && (!p->open_units || p->log_kib * 1024 < p->program_bytes))
		return "log_kib needs open_units, and at least program_bytes";
	if (p->pad_bytes && (!power_of_two(p->pad_bytes) || p->pad_bytes > p->program_bytes))
		return "pad_bytes is neither 0 nor a power of two up to program_bytes";
	if (p->gc_blocks && flash_blocks(p, sectors) > FLASH_MAX_BLOCKS)
		return "erase_kib makes more than 65536 blocks";
	/* one is open, one is for garbage collection's copies */
	if (p->gc_blocks && flash_blocks(p, sectors) * p->erase_kib <
				    sectors / 2 + (p->gc_blocks + 2) * p->erase_kib)
		return "spare_permille leaves fewer spare blocks than gc_blocks + 2";
	if (p->fill_permille && !p->gc_blocks)
		return "fill_permille needs gc_blocks";
	if (p->overwrite_permille && !p->fill_permille)
		return "overwrite_permille needs fill_permille: there is nothing to overwrite";
	if (p->rel_sectors && (!p->fua || p->block_bytes != 512))
		return "rel_sectors needs fua, and blocks of 512 bytes";
	if (p->meta_reliable && !p->fua)
		return "meta_reliable needs fua";
	if (p->map_kib && (p->open_units || p->map_kib * 1024 < p->read_bytes))
		return "map_kib needs open_units=0, and at least read_bytes";
	if (p->gc_blocks && p->erase_kib * 1024 % later(FLASH_PAGE, p->program_bytes))
		return "erase_kib is not a multiple of 4 and of program_bytes";
	if (p->gc_blocks && p->open_units)
		return "gc_blocks needs open_units=0: a device that maps units merges them";
	return NULL;
}

u64 flash_size(const struct flash_parameters *p, u64 sectors)
{
	return sizeof(struct flash_model) +
	       (map_numbers(p, sectors) + map_cache_numbers(p, sectors)) * sizeof(u32);
}

void flash_model_init(struct flash_model *m, const struct flash_parameters *p, u64 sectors)
{
	m->p = *p;
	m->sectors = sectors;
	map_init(m);
	m->map_cache.used = m->numbers + map_numbers(p, sectors);
	map_reset(m);
	map_age(m);
	flash_reset(m);
}

void flash_reset(struct flash_model *m)
{
	m->stats = (struct flash_stats){};
	m->random = m->p.seed;
	m->next_die = 0;
	m->uses = m->slc_bytes = 0;
	/* what was written to a used device stays where it is */
	if (!m->p.fill_permille)
		map_reset(m);
	flash_power_cut(m);
}

void flash_power_cut(struct flash_model *m)
{
	u32 i;

	for (i = 0; i < FLASH_MAX_DIES; i++)
		m->die_free[i] = m->die_page[i] = 0;
	m->controller_free = m->bus_free = m->folded_until = 0;
	m->open_units = 0;
	map_cache_clear(m);
	m->dirty_bytes = m->taken_at = 0;
	m->pending_bytes = m->programming_bytes = 0;
	m->nr_pending = m->nr_programs = m->first_program = 0;
}

/* Wait for the controller, then its overhead. */
static void command(struct flash_model *m, struct flash_chain *c, u64 further_ns)
{
	chain_until(c, CAUSE_queue, m->controller_free);
	chain_for(c, CAUSE_command, m->p.command_ns + further_ns);
	m->controller_free = c->at;
}

static struct flash_chain begin(struct flash_model *m, u64 now, u64 further_ns)
{
	struct flash_chain c = {.at = now};

	media_idle(m, now);
	command(m, &c, further_ns);
	return c;
}

/* A FLUSH or a FUA write may keep the controller to its end. */
static void keep_controller(struct flash_model *m, const struct flash_chain *c)
{
	if (m->p.exclusive)
		m->controller_free = later(m->controller_free, c->at);
}

static u64 finish(struct flash_model *m, const struct flash_chain *c)
{
	int i;

	for (i = 0; i < FLASH_NR_CAUSES; i++)
		m->stats.time[i] += c->part[i];
	return c->at;
}

static u64 transfer_ns(const struct flash_model *m, u64 bytes)
{
	return bytes * 1000 / m->p.bus_mb_s;
}

/* Bytes from `sector` up to the next multiple of `size`, at most to `end`. */
static u64 chunk_of(u64 sector, u64 end, u64 size)
{
	u64 stop = (sector * 512 / size + 1) * size;

	return (stop < end * 512 ? stop : end * 512) - sector * 512;
}

u64 flash_read(struct flash_model *m, u64 now, u64 sector, u64 sectors)
{
	u64 end = sector + sectors, sent = 0, bytes, ns;
	struct flash_chain c = begin(m, now, m->p.read_command_ns), last = c;

	m->stats.reads++;
	m->stats.read_bytes += sectors * 512;
	m->bus_free = later(m->bus_free, c.at);
	for (; sector < end; sector += bytes / 512) {
		struct flash_chain k;

		bytes = chunk_of(sector, end, m->p.read_bytes);
		map_cache_use(m, &c, sector, sector + bytes / 512);
		k = c;
		media_read(m, &k, sector * 512 / m->p.read_bytes);
		/*
		 * This command's pages follow one another. The bus is reserved only for its
		 * transfer time: a page that waits for its die does not delay other commands.
		 */
		ns = transfer_ns(m, bytes);
		sent = later(k.at, sent) + ns;
		m->bus_free += ns;
		chain_until(&k, CAUSE_bus, later(sent, m->bus_free));
		if (k.at >= last.at)
			last = k;
	}
	return finish(m, &last);
}

/* Free the cache space of data programmed by `now`. */
static void retire(struct flash_model *m, u64 now)
{
	while (m->nr_programs && m->program[m->first_program].done <= now) {
		m->programming_bytes -= m->program[m->first_program].bytes;
		m->first_program = (m->first_program + 1) % FLASH_MAX_PROGRAMS;
		m->nr_programs--;
	}
}

/* Program up to one unit from the front of the pending data. */
static void drain_one(struct flash_model *m, u64 now)
{
	struct flash_chain k = {.at = now};
	u64 room = m->p.program_bytes / 512, bytes = 0;
	u32 taken = 0, parts = 0, i;

	while (taken < m->nr_pending && room) {
		struct flash_extent *e = &m->pending[taken];
		u64 n = e->sectors < room ? e->sectors : room;

		m->drained[parts++] = (struct flash_extent){e->sector, n};
		room -= n;
		bytes += n * 512;
		e->sector += n;
		e->sectors -= n;
		taken += !e->sectors;
	}
	m->nr_pending -= taken;
	for (i = 0; taken && i < m->nr_pending; i++)
		m->pending[i] = m->pending[i + taken];
	m->pending_bytes -= bytes;
	media_program(m, &k, m->drained, parts, bytes);

	if (m->nr_programs == FLASH_MAX_PROGRAMS)
		retire(m, m->program[m->first_program].done);
	m->program[(m->first_program + m->nr_programs++) % FLASH_MAX_PROGRAMS] =
		(struct flash_program){k.at, bytes};
	m->programming_bytes += bytes;
}

/* FIFO: append. Reordering: an elevator, sorted by sector. Neighbours join. */
static void add_pending(struct flash_model *m, u64 sector, u64 sectors)
{
	u32 at = m->nr_pending, i;

	if (m->p.cache_reorder)
		while (at && m->pending[at - 1].sector > sector)
			at--;
	m->pending_bytes += sectors * 512;
	if (at && m->pending[at - 1].sector + m->pending[at - 1].sectors == sector) {
		m->pending[at - 1].sectors += sectors;
		return;
	}
	for (i = m->nr_pending; i > at; i--)
		m->pending[i] = m->pending[i - 1];
	m->pending[at] = (struct flash_extent){sector, sectors};
	m->nr_pending++;
}

/* FIFO drains whole units at once; an elevator fills half the cache first, to have data to sort. */
static u64 drain_at(const struct flash_model *m)
{
	return m->p.cache_reorder ? later(m->p.program_bytes, m->p.cache_kib * 512)
				  : m->p.program_bytes;
}

/* Take a chunk into the cache, when there is room for it and for what came before it. */
static void cache_chunk(struct flash_model *m, struct flash_chain *c, u64 sector, u64 bytes)
{
	chain_until(c, CAUSE_cache, m->taken_at);
	retire(m, c->at);
	while (m->pending_bytes + m->programming_bytes + bytes > m->p.cache_kib * 1024) {
		if (!m->nr_programs)
			drain_one(m, c->at);
		chain_until(c, CAUSE_cache, m->program[m->first_program].done);
		retire(m, c->at);
	}
	m->taken_at = c->at;
	add_pending(m, sector, bytes / 512);
	m->dirty_bytes += bytes;
	while (m->nr_pending == FLASH_MAX_PENDING || m->pending_bytes >= drain_at(m))
		drain_one(m, c->at);
}

/* Write what one command has; return its chain at the end. */
static struct flash_chain write_chunks(struct flash_model *m, struct flash_chain c, u64 sector,
				       u64 end, bool reliable)
{
	bool cached = m->p.cache_kib && !reliable;
	struct flash_chain last = c;
	u64 bytes;

	chain_until(&c, CAUSE_bus, m->bus_free);
	for (; sector < end; sector += bytes / 512) {
		bytes = chunk_of(sector, end, m->p.program_bytes);
		chain_for(&c, CAUSE_bus, transfer_ns(m, bytes));
		/* a command that waits for cache space leaves the bus to others */
		m->bus_free = c.at;
		if (cached) {
			cache_chunk(m, &c, sector, bytes);
			last = c;
		} else {
			struct flash_extent part = {sector, bytes / 512};
			struct flash_chain k = c;

			media_program(m, &k, &part, 1, bytes);
			if (k.at >= last.at)
				last = k;
		}
	}
	if (reliable) {
		chain_for(&last, CAUSE_fua, m->p.fua_ns);
		keep_controller(m, &last);
	}
	return last;
}

/*
 * Sectors of the next command of a reliable write, as Linux's mmc driver sends them to a card
 * without WR_REL_PARAM_EN: rel_sectors at a multiple of it, else one.
 */
static u64 reliable_sectors(const struct flash_model *m, u64 sector, u64 end)
{
	u64 most = m->p.rel_sectors;

	if (!most)
		return end - sector;
	return sector % most || end - sector < most ? 1 : most;
}

u64 flash_write(struct flash_model *m, u64 now, u64 sector, u64 sectors, bool reliable)
{
	u64 end = sector + sectors, n = reliable ? reliable_sectors(m, sector, end) : sectors;
	struct flash_chain c = begin(m, now, m->p.write_command_ns);

	m->stats.writes++;
	m->stats.write_bytes += sectors * 512;
	c = write_chunks(m, c, sector, sector + n, reliable);
	m->stats.reliable_commands += reliable;
	for (sector += n; sector < end; sector += n) {
		n = reliable_sectors(m, sector, end);
		command(m, &c, m->p.write_command_ns);
		c = write_chunks(m, c, sector, sector + n, true);
		m->stats.reliable_commands++;
	}
	return finish(m, &c);
}

u64 flash_flush(struct flash_model *m, u64 now)
{
	struct flash_chain c = {.at = now};
	u32 i;

	media_idle(m, now);
	if (!m->dirty_bytes) {
		m->stats.flushes_clean++;
		chain_for(&c, CAUSE_flush, m->p.flush_clean_ns);
		return finish(m, &c);
	}
	m->stats.flushes_dirty++;
	chain_until(&c, CAUSE_queue, m->controller_free);
	retire(m, c.at);
	while (m->pending_bytes)
		drain_one(m, later(c.at, m->taken_at));
	for (i = 0; i < m->nr_programs; i++)
		chain_until(&c, CAUSE_drain,
			    m->program[(m->first_program + i) % FLASH_MAX_PROGRAMS].done);
	chain_for(&c, CAUSE_flush,
		  m->p.flush_dirty_ns + m->p.flush_dirty_kib_ns * m->dirty_bytes / 1024);
	keep_controller(m, &c);
	m->dirty_bytes = 0;
	return finish(m, &c);
}

u64 flash_discard(struct flash_model *m, u64 now, u64 sector, u64 sectors)
{
	struct flash_chain c = begin(m, now, 0);

	map_discard(m, sector, sectors);
	m->stats.discards++;
	m->stats.discard_bytes += sectors * 512;
	chain_for(&c, CAUSE_discard, m->p.discard_ns);
	return finish(m, &c);
}
