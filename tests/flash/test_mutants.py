"""The flash model's tests notice each way in which it is broken here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from native import ROOT

# file, what it says, what it shall say
MUTANTS = [
    ("model.c", "chain_for(&c, CAUSE_command, m->p.command_ns);", ""),
    ("model.c", "chain_until(&c, CAUSE_queue, m->controller_free);\n\tchain_for", "chain_for"),
    ("model.c", "return bytes * 1000 / m->p.bus_mb_s;", "return (bytes + 512) * 1000 / m->p.bus_mb_s;"),
    ("model.c", "sent = later(k.at, sent) + ns;", "sent = k.at + ns;"),
    ("model.c", "m->bus_free += ns;", "m->bus_free = later(sent, m->bus_free);"),
    ("model.c", "if (k.at >= last.at)", "if (k.at < last.at)"),
    ("model.c", "chain_for(&last, CAUSE_fua, m->p.fua_ns);", "last.at++;"),
    ("model.c", "bool cached = m->p.cache_kib && !fua;", "bool cached = m->p.cache_kib;"),
    ("model.c", "while (m->pending_bytes)\n\t\tdrain_one(m, c.at);", ""),
    ("model.c", "m->dirty = false;\n\treturn finish", "return finish"),
    ("model.c", "chain_until(c, CAUSE_cache, m->program[m->first_program].done);\n\t\tretire(m, c->at);",
     "retire(m, m->program[m->first_program].done);"),
    ("model.c", "while (at && m->pending[at - 1].sector > sector)", "while (0)"),
    ("model.c", "m->random = m->p.seed;", ""),
    ("model.c", "m->pending_bytes = m->programming_bytes = 0;\n\tm->nr_pending", "m->nr_pending"),
    ("model.c", "m->dirty = false;\n\tm->pending", "m->pending"),
    ("model.c", "const char *flash_check(const struct flash_parameters *p, u64 sectors)\n{",
     "const char *flash_check(const struct flash_parameters *p, u64 sectors)\n{\n\tif (p)\n\t\treturn 0;"),
    ("media.c", "if (m->die_page[die] == page + 1)", "if (0)"),
    ("media.c", "m->die_page[die] = 0;", ""),
    ("media.c", "m->next_die = (die + 1) % m->p.dies;", ""),
    ("media.c", "m->p.program_kib_ns * bytes / 1024", "bytes / 1024"),
    ("media.c", "if (m->unit[i].used < unit->used)", "if (m->unit[i].used > unit->used)"),
    ("media.c", "unit->sequential &= offset == unit->next;", ""),
    ("media.c", "flash_random(&m->random) % (m->p.merge_spread_ns + 1)", "m->p.merge_spread_ns"),
    ("media.c", "if (!m->p.gc_blocks)\n\t\treturn 0;", "return 0;"),
    ("media.c", "valid = block * live_kib / m->physical_kib;", "valid = 0;"),
    ("media.c", "chain_for(c, CAUSE_merge, merge);", "c->at += merge;"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new"), MUTANTS, ids=range(len(MUTANTS)))
def test_a_broken_model_is_noticed(file, old, new, tmp_path):
    folder = tmp_path / "sources"
    shutil.copytree(ROOT / "images/devices/flashsim", folder)
    text = (folder / file).read_text()
    assert old in text, f"{file} has another text by now"
    (folder / file).write_text(text.replace(old, new, 1))
    tests = Path(__file__).with_name("test_flash_model.py")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(tests)]
    environment = {**os.environ, "FLASH_SOURCES": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "FAILED" in done.stdout, done.stdout[-500:]
