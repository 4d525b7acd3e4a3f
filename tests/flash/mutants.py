"""Break the flash module on purpose, one way at a time, and see that a check notices.

usage: mutants.py host                the model, by tests/flash/test_flash_*.py
       mutants.py board COMMAND...    the module: COMMAND FLASHSIM.KO CHECK runs board-check.sh on a
                                      board; its exit status and what it prints are taken
       BUILD=COMMAND                  environment of `board`: COMMAND SOURCES FLASHSIM.KO builds it
Exit 1 if a broken one passed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "images/devices/flashsim"

# file, what it says, what it shall say
HOST = [
    ("model.c", "chain_for(c, CAUSE_command, m->p.command_ns + further_ns);", "c->at += further_ns;"),
    ("model.c", "chain_until(c, CAUSE_queue, m->controller_free);\n\tchain_for", "chain_for"),
    ("model.c", "return bytes * 1000 / m->p.bus_mb_s;", "return (bytes + 512) * 1000 / m->p.bus_mb_s;"),
    ("model.c", "sent = later(k.at, sent) + ns;", "sent = k.at + ns;"),
    ("model.c", "m->bus_free += ns;", "m->bus_free = later(sent, m->bus_free);"),
    ("model.c", "if (k.at >= last.at)", "if (k.at < last.at)"),
    ("model.c", "chain_for(&last, CAUSE_fua, m->p.fua_ns);", "last.at++;"),
    ("model.c", "bool cached = m->p.cache_kib && !reliable;", "bool cached = m->p.cache_kib;"),
    ("model.c", "while (m->pending_bytes)\n\t\tdrain_one(m, later(c.at, m->taken_at));", ""),
    ("model.c", "drain_one(m, later(c.at, m->taken_at));", "drain_one(m, c.at);"),
    ("model.c", "chain_until(c, CAUSE_cache, m->taken_at);", ""),
    ("model.c", "m->dirty_bytes = 0;\n\treturn finish", "return finish"),
    ("model.c", "chain_until(c, CAUSE_cache, m->program[m->first_program].done);\n\t\tretire(m, c->at);",
     "retire(m, m->program[m->first_program].done);"),
    ("model.c", "while (at && m->pending[at - 1].sector > sector)", "while (0)"),
    ("model.c", "m->random = m->p.seed;", ""),
    ("model.c", "m->pending_bytes = m->programming_bytes = 0;\n\tm->nr_pending", "m->nr_pending"),
    ("model.c", "m->dirty_bytes = m->taken_at = 0;", "m->taken_at = 0;"),
    ("model.c", "const char *flash_check(const struct flash_parameters *p, u64 sectors)\n{",
     "const char *flash_check(const struct flash_parameters *p, u64 sectors)\n{\n\tif (p)\n\t\treturn 0;"),
    ("model.c", "begin(m, now, m->p.read_command_ns)", "begin(m, now, m->p.write_command_ns)"),
    ("model.c", "m->p.flush_dirty_kib_ns * m->dirty_bytes / 1024", "m->p.flush_dirty_kib_ns"),
    ("model.c", "if (m->p.exclusive)", "if (!m)"),
    ("model.c", "return sector % most || end - sector < most", "return end - sector < most"),
    ("model.c", "return sector % most || end - sector < most", "return sector % most"),
    ("model.c", "command(m, &c, m->p.write_command_ns);\n\t\tc =", "c ="),
    ("media.c", "if (m->die_page[page % m->p.dies] == page + 1)", "if (0)"),
    ("media.c", "m->die_page[die] = 0;", ""),
    ("media.c", "m->next_die = (die + 1) % m->p.dies;", ""),
    ("media.h", "m->p.program_kib_ns * bytes / 1024", "bytes / 1024"),
    ("units.c", "if (m->unit[i].used < unit->used)", "if (m->unit[i].used > unit->used)"),
    ("units.c", "unit->sequential &= offset == unit->next;", ""),
    ("units.c", "flash_random(&m->random) % (m->p.merge_spread_ns + 1)", "m->p.merge_spread_ns"),
    ("units.c", "if (unit->log_bytes + taken > m->p.log_kib * 1024)", "if (0)"),
    ("units.c", "(size - unit->next) / size", "size / size"),
    ("units.c", "if (in_order(unit, offset))", "if (offset > m->sectors)"),
    ("media.h", "(bytes + pad - 1) / pad * pad", "bytes"),
    ("map_cache.c", "if (cache->held == m->p.map_kib * 1024 / m->p.read_bytes)", "if (!m)"),
    ("map_cache.c", "cache->used[i] < cache->used[oldest]", "cache->used[i] > cache->used[oldest]"),
    ("map_cache.c", "if (!cache->used[page])", "if (!m)"),
    ("media.c", "m->folded_until = later(m->folded_until, now);", ""),
    ("media.c", "m->slc_bytes -= units;", ""),
    ("media.c", "return m->p.slc_program_ns;", "return program_ns(m, bytes);"),
    ("map.c", "while (m->map.nr_free <= m->p.gc_blocks)", "while (0)"),
    ("map.c", "if (map->live[i] < map->live[best] && i != map->open)", "if (map->live[best] == NONE)"),
    ("map.c", "if (page == NONE || (map->slot[page] & ~OTHER) != i + 1)", "if (page == NONE)"),
    ("map.c", "return units * (m->p.read_ns + program_ns(m, m->p.program_bytes)) + m->p.erase_ns;",
     "return units + m->p.erase_ns;"),
    ("map.c", "for (; m->map.slot && page < end; page++)", "for (; page > end; page++)"),
    ("map.c", "if (!(m->map.slot[page] & OTHER))", "if (m)"),
    ("map.c", "append(map, page, map->slot[page] & OTHER);", "append(map, page, 0);"),
    ("map.c", "while (filled && left)", "while (filled > pages && left)"),
    ("model.c", "if (!m->p.fill_permille)", "if (m)"),
    ("map.c", "for (; pages < padded; pages++)", "for (; pages > padded; pages++)"),
    ("map.c", "map->slot[i] = 0;\n\t\tappend(map, i, 0);", "map->slot[i] = 0;"),
    ("media.c", "chain_for(c, CAUSE_merge, merge);", "c->at += merge;"),
]  # fmt: skip

# check of board-check.sh, then as above
BOARD = [
    ("parameters", "main.c", "|| *value < least || *value > most", ""),
    ("parameters", "main.c", "if (!(dev->set & BIT_ULL(i)))", "if (!dev->set)"),
    ("parameters", "model.c", "if (p->block_bytes != 512 && p->block_bytes != 4096)", "if (0)"),
    ("parameters", "main.c", "if (dev->powered && !live)", "if (dev->powered && !field)"),
    ("timing", "main.c", "if (dev->powered)\n\t\tdev->model->p = dev->p;", ""),
    ("timing", "queue.c", "ns_to_ktime(done)", "ns_to_ktime((now + done) / 2)"),
    ("timing", "queue.c", "ns_to_ktime(done)", "ns_to_ktime(done + 1000000)"),
    ("verify", "store.c", "return piece->count == PAGE_SECTORS;", "return piece->count > 0;"),
    ("verify", "store.c", "memcpy(page_address(page) + offset_in_page(at), data, n);",
     "memcpy(page_address(page), data, n);"),
    ("verify", "queue.c", "mutex_unlock(&dev->lock);\n\n\tif (!done)",
     'mutex_unlock(&dev->lock);\n\tpr_warn_once("flashsim: broken\\n");\n\n\tif (!done)'),
    ("unaligned", "queue.c", "set_capacity(dev->disk, dev->sectors);",
     "set_capacity(dev->disk, dev->sectors & ~7);"),
    ("unaligned", "kernels.h", ".logical_block_size = l->block_bytes", ".logical_block_size = 512"),
    ("filesystems", "store.c", "else if (page)", "else if (page && (at >> PAGE_SHIFT) % 512 != 77)"),
    ("discard", "store.c", "sector = (sector_t)index * PAGE_SECTORS;\n\t\t\tcontinue;", "break;"),
    ("discard", "store.c", "u32 n = min_t(sector_t, PAGE_SECTORS - offset, end - sector);",
     "u32 n = PAGE_SECTORS - offset;\n\n\t\tif (!discard)\n\t\t\tn = min_t(sector_t, n, end - sector);"),
    ("accounting", "model.c", "m->stats.flushes_dirty++;", ""),
    ("accounting", "kernels.h", "limits.features |= BLK_FEAT_FUA;", "limits.features |= 0;"),
    ("accounting", "kernels.h", "if (l->write_cache)", "if (l)"),
    ("accounting", "model.c", "m->stats.write_bytes += sectors * 512;", ""),
    ("log", "log.c", "entries[dev->nr_log++ % ENTRIES_PER_PAGE]", "entries[dev->nr_log++ % 100]"),
    ("log", "log.c", "at % (ENTRIES_PER_PAGE * sizeof(struct flash_log_entry))", "at % 2048"),
    ("log", "queue.c", "entry.end_ns = done;", "entry.end_ns = done + !!done;"),
    ("log", "queue.c", "| (bd->rq->cmd_flags & REQ_FUA)", ""),
    ("log", "queue.c", "blk_rq_sectors(bd->rq) ? blk_rq_pos(bd->rq) : 0", "blk_rq_pos(bd->rq)"),
    ("log", "sysfs.c", "flash_log_clear(dev);", ""),
    ("log", "sysfs.c", "dev->logging = true;", ""),
    ("log", "queue.c", "dev->logging = false;", "dev->logging = true;"),
    ("determinism", "model.c", "m->random = m->p.seed;", ""),
    ("determinism", "queue.c", "now = ktime_get_ns();",
     "now = ktime_get_ns();\n\tdev->model->random += now;"),
    ("unload", "queue.c", "dev->going = !dev->openers;", "dev->going = true;"),
    ("unload", "queue.c", "flash_free_pages(dev);", ""),
    ("unload", "cache.c", "\telse\n\t\tflash_free_change(change);", ""),
    ("power_cut", "queue.c", "dev->flushed = max(dev->flushed, cmd->flush);", ""),
    ("power_cut", "cache.c", "if (!change->pinned && !change->flush)", "if (!change->flush)"),
    ("power_cut", "cache.c", "if (!change->pinned && !change->flush)",
     "if (!list_is_last(&change->list, &dev->changes) && !change->flush)"),
    ("power_cut", "queue.c", "cmd->change->durable = cmd->forced;", "cmd->change->durable = false;"),
    ("power_cut", "queue.c", "if (cmd->epoch != dev->epoch)", "if (!dev)"),
    ("power_cut", "queue.c", "if (!cut) {", "if (!cut || dev) {"),
    ("power_cut", "cache.c", "stays = prefix ? seen < length", "stays = prefix ? seen >= length"),
    ("power_cut", "cache.c", "bool prefix = !dev->p.cache_reorder;", "bool prefix = true;"),
    ("power_cut", "cache.c", "list_for_each_entry_reverse(change", "list_for_each_entry(change"),
    ("power_cut", "store.c", "swap(*a, *b);", "*a = *b;"),
    ("power_cut", "store.c", "__GFP_NOFAIL);\n\t\texchange(dev, index, page);", "__GFP_NOFAIL);"),
]  # fmt: skip


def broken(folder, file, old, new):
    """A copy of the sources with the one change; the text must be there once."""
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    text = (folder / file).read_text()
    if text.count(old) < 1:
        sys.exit(f"mutants: {file} does not say {old!r} any more")
    (folder / file).write_text(text.replace(old, new, 1))


def on_host(folder):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *map(str, sorted(HERE.glob("test_flash_*.py"), reverse=True)),
    ]
    environment = {**os.environ, "FLASH_SOURCES": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return done.returncode == 1 and failed, failed[0].split("::")[1].split(" - ")[
        0
    ] if failed else done.stdout[-500:]


def on_board(folder, check, command):
    module = folder / "flashsim.ko"
    built = subprocess.run([os.environ["BUILD"], str(folder), str(module)], capture_output=True, check=False)
    if built.returncode:
        return False, "does not build: " + built.stderr.decode()[-300:]
    done = subprocess.run([*command, str(module), check], capture_output=True, text=True, check=False)
    failed = [line for line in done.stdout.splitlines() if line.startswith("not ok")]
    return done.returncode != 0 and failed, failed[0][:110] if failed else (done.stdout + done.stderr)[-500:]


def main():
    missed = 0
    where, *command = sys.argv[1:] or [""]
    if where not in ("host", "board"):
        sys.exit(__doc__)
    for mutant in HOST if where == "host" else BOARD:
        with tempfile.TemporaryDirectory() as folder:
            broken(Path(folder), *mutant[-3:])
            path = Path(folder)
            noticed, how = on_host(path) if where == "host" else on_board(path, mutant[0], command)
        missed += not noticed
        said = " ".join(mutant[-2].split())[:60]
        print(f"{'noticed' if noticed else 'MISSED'}  {mutant[-3]}: {said}\n         {how}", flush=True)
    print(f"{missed} missed")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
