// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives one command of the device a fault: it fails, or does not store what it was given. README.md
 * describes the kinds; experiments/schema.yml has those of a cell (compared by a test).
 *
 * Commands of the kind's operation are counted from when the fault is set. The command takes the
 * time that the model gives it.
 */
#include <linux/string.h>

#include "flash.h"

static const struct flash_fault_kind kinds[] = {
	{"eio-write", REQ_OP_WRITE, BLK_STS_IOERR, STORES_NOTHING},
	{"eio-flush", REQ_OP_FLUSH, BLK_STS_IOERR, STORES_NOTHING},
	{"eio-read", REQ_OP_READ, BLK_STS_IOERR, STORES_NOTHING},
	{"enospc", REQ_OP_WRITE, BLK_STS_NOSPC, STORES_NOTHING},
	{"short-write", REQ_OP_WRITE, BLK_STS_OK, STORES_HALF},
	{"torn", REQ_OP_WRITE, BLK_STS_IOERR, STORES_GARBAGE},
	{"corrupt", REQ_OP_WRITE, BLK_STS_OK, STORES_FLIPPED},
};

/* "KIND:N": the Nth such command from now on. Called with dev->lock held. */
int flash_fault_set(struct flash_device *dev, char *words)
{
	const char *name = strsep(&words, ":");
	u64 number;
	int i;

	if (!words || kstrtou64(words, 10, &number) || !number)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(name, kinds[i].name))
			continue;
		dev->fault = (struct flash_fault){.kind = &kinds[i], .number = number};
		return 0;
	}
	return -EINVAL;
}

/* Return the kind of the fault that the command has, or NULL. Called once for each command. */
const struct flash_fault_kind *flash_fault_of(struct flash_device *dev, struct request *rq)
{
	struct flash_fault *fault = &dev->fault;

	if (!fault->kind || fault->kind->op != req_op(rq) || ++fault->seen != fault->number)
		return NULL;
	fault->sector = blk_rq_sectors(rq) ? blk_rq_pos(rq) : 0;
	return fault->kind;
}

/* Spoil a sector that was stored. */
void flash_fault_spoil(struct flash_device *dev, const struct flash_fault_kind *kind,
		       sector_t sector)
{
	struct page *page = xa_load(&dev->pages, sector / PAGE_SECTORS);
	u8 *bytes = page_address(page) + ((sector % PAGE_SECTORS) << SECTOR_SHIFT);

	if (kind->stores == STORES_GARBAGE)
		memset(bytes, 0xdb, SECTOR_SIZE);
	else if (kind->stores == STORES_FLIPPED)
		bytes[SECTOR_SIZE / 2] ^= 1;
}
