"""A second implementation of flashsim's page map, greedy garbage collection (map.c) and random numbers."""

from collections import deque
from collections.abc import Iterable, Mapping

_PAGE = 4096
_U64 = 2**64 - 1


class Splitmix:
    """The generator splitmix64."""

    def __init__(self, state: int) -> None:
        self.state = state

    def draw(self) -> int:
        """Return the next number."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & _U64
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _U64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _U64
        return z ^ (z >> 31)


class PageMap:
    """Which page is where, since the reset of an empty device."""

    def __init__(self, parameters: Mapping[str, int]) -> None:
        self.each = parameters
        kib = parameters["sectors"] // 2
        blocks = (kib + kib * parameters["spare_permille"] // 1000) // parameters["erase_kib"]
        self.room = parameters["erase_kib"] * 1024 // _PAGE
        self.free = deque(range(1, blocks))
        self.open = 0
        # what was written to a block, in order (None: padding), and where each page's newest copy is
        self.written: dict[int, list[int | None]] = {0: []}
        self.newest: dict[int, tuple[int, int]] = {}
        self.live: dict[int, int] = {0: 0}
        self.erases = self.copied = 0
        self.other: set[int] = set()  # pages that the host did not write
        self._age(kib * 1024 // _PAGE)

    def _age(self, pages: int) -> None:
        """Fill a part of the pages with other data, and overwrite as many as the parameter has at random."""
        random = Splitmix(self.each["seed"])
        for page in range(pages):
            if random.draw() % 1000 < self.each["fill_permille"]:
                self._take([page])
                self.other.add(page)
        for _ in range(pages * self.each["overwrite_permille"] // 1000):
            while (page := random.draw() % pages) not in self.other:
                pass
            self._take([page])

    def program(self, parts: Iterable[tuple[int, int]]) -> int:
        """Write sectors; return the ns of garbage collection."""
        pages: list[int | None] = []
        for sector, sectors in parts:
            pages += range(sector * 512 // _PAGE, -(-(sector + sectors) * 512 // _PAGE))
        pad = max(self.each["pad_bytes"] // _PAGE, 1)
        pages += [None] * (-len(pages) % pad)
        self.other -= set(pages)
        return self._take(pages)

    def _take(self, pages: Iterable[int | None]) -> int:
        ns = 0
        for page in pages:
            while len(self.free) <= self.each["gc_blocks"]:
                ns += self._reclaim()
            self._append(page)
        return ns

    def discard(self, sector: int, sectors: int) -> None:
        """Forget the pages that lie in it as a whole."""
        for page in range(-(-sector * 512 // _PAGE), (sector + sectors) * 512 // _PAGE):
            if page in self.newest and page not in self.other:
                self.live[self.newest.pop(page)[0]] -= 1

    def _append(self, page: int | None) -> None:
        if len(self.written[self.open]) == self.room:
            self.open = self.free.popleft()
            self.written[self.open], self.live[self.open] = [], 0
        self.written[self.open].append(page)
        if page is not None:
            if page in self.newest:
                self.live[self.newest[page][0]] -= 1
            self.newest[page] = (self.open, len(self.written[self.open]) - 1)
            self.live[self.open] += 1

    def _reclaim(self) -> int:
        victim = min((live, block) for block, live in self.live.items() if block != self.open)[1]
        kept = [
            page
            for place, page in enumerate(self.written[victim])
            if page is not None and self.newest.get(page) == (victim, place)
        ]
        for page in kept:
            self._append(page)
        del self.live[victim], self.written[victim]
        self.free.append(victim)
        self.erases += 1
        self.copied += len(kept) * _PAGE
        unit = self.each["program_bytes"]
        program = self.each["program_ns"] + self.each["program_kib_ns"] * unit // 1024
        return -(-len(kept) * _PAGE // unit) * (self.each["read_ns"] + program) + self.each["erase_ns"]
