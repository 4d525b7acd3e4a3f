"""Draw records as workloads/distribution.c does (zipfian, latest, hotspot, …), with the same arithmetic."""

from collections.abc import Callable

from model.workloads import Random

# Items of YCSB's ScrambledZipfianGenerator, and the shares of its hotspot, in per cent.
_SCRAMBLED_ITEMS = 10**10
_HOT_RECORDS, _HOT_REQUESTS = 20, 80
_WORD = (1 << 64) - 1


def _power_100(x: float) -> float:
    x2 = x * x
    x4 = x2 * x2
    x8 = x4 * x4
    x16 = x8 * x8
    x32 = x16 * x16
    return x32 * x32 * x32 * x4


def _root_100(x: float) -> float:
    logarithm = 0.006931471805599453 * (int(x).bit_length() - 0.5)
    root = 1 + logarithm + logarithm * logarithm / 2
    for _ in range(6):
        root = (99 * root + x / (_power_100(root) / root)) / 100
    return root


def _integral(x: float) -> float:
    return 100 * (_root_100(x) - 1)


def _density(x: float) -> float:
    return _root_100(x) / x


_BOTTOM = _integral(1.5) - 1
_NEAR = 2 - _power_100(1 + (_integral(2.5) - _density(2)) / 100)


class Zipf:
    """Zipf's law: the probability of i, from 1 to a count, is in proportion to i**-0.99."""

    def __init__(self) -> None:
        self._count, self._top = 0, 0.0

    def draw(self, random: Random, count: int) -> int:
        """Return a number from 1 to `count`, which is at least 1."""
        if self._count != count:
            self._count, self._top = count, _integral(count + 0.5)
        while True:
            unit = (random.next() >> 11) * 2.0**-53
            area = self._top + unit * (_BOTTOM - self._top)
            x = _power_100(1 + area / 100)
            number = min(max(int(x + 0.5), 1), count)
            if number - x <= _NEAR or area >= _integral(number + 0.5) - _density(number):
                return number


def _fnv(number: int) -> int:
    value = 0xCBF29CE484222325
    for byte in number.to_bytes(8, "little"):
        value = (value ^ byte) * 1099511628211 & _WORD
    return value if value >> 63 == 0 else _WORD + 1 - value


class Records:
    """Draws the record of each request; records are counted from 0, in the order of their inserts.

    Raises ValueError for an unknown distribution.
    """

    def __init__(self, distribution: str, random: Random, before: int) -> None:
        self._random, self._zipf, self._before, self.now = random, Zipf(), before, before
        draws: dict[str, Callable[[int, int], int]] = {
            "uniform": lambda count, _: random.below(count),
            "zipfian": lambda count, _: self._zipf.draw(random, count) - 1,
            "scrambled_zipfian": lambda count, _: self._scrambled(count),
            "latest": lambda count, _: count - self._zipf.draw(random, count),
            "hotspot": lambda count, _: self._hotspot(count),
            "sequential": lambda count, number: number % count,
        }
        if distribution not in draws:
            raise ValueError(f"no request_distribution {distribution!r}")
        self._draw = draws[distribution]

    def draw(self, number: int) -> int:
        """Return the record of request `number`, 0 if there are none."""
        return self._draw(max(self.now, 1), number)

    def _scrambled(self, count: int) -> int:
        return _fnv(self._zipf.draw(self._random, _SCRAMBLED_ITEMS) - 1) % (self._before or count)

    def _hotspot(self, count: int) -> int:
        hot = (count * _HOT_RECORDS + 99) // 100
        if self._random.below(100) < _HOT_REQUESTS or hot == count:
            return self._random.below(hot)
        return hot + self._random.below(count - hot)
