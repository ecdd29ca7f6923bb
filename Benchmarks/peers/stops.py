"""The workload's stops and questions, as Sources/Benchmark/Workload makes them."""
import json
import threading
import time
from datetime import datetime, timezone

MASK = (1 << 64) - 1
ROUTES = 150


class SplitMix64:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)


def unit(draw):
    return (draw >> 11) * 2.0 ** -53


def permutation(count, seed):
    numbers = list(range(1, count + 1))
    generator = SplitMix64(seed)
    for index in range(count - 1, 0, -1):
        other = generator.next() % (index + 1)
        numbers[index], numbers[other] = numbers[other], numbers[index]
    return numbers


def records(count, seed=42, shift=0.0):
    generator = SplitMix64(seed)
    for _ in range(count):
        a, b, c, d, e, f, g, h, i = (generator.next() for _ in range(9))
        yield dict(
            identifier="S%016x" % a,
            name="".join(chr(65 + ((b >> (4 * k)) & 15)) for k in range(16)),
            latitude=-90 + unit(c) * 180 + shift,
            longitude=-180 + unit(d) * 360,
            code=e % 1_000_000,
            createdAt=datetime.fromtimestamp(1_600_000_000 + f % 100_000_000, timezone.utc),
            active=bool(g & 1),
            note=None if h % 10 < 3 else "note %016x" % h,
            route=i % ROUTES,
        )


def questions():
    generator = SplitMix64(7)
    for _ in range(1000):
        low = generator.next() % 800_000
        yield low, chr(65 + generator.next() % 16)


EXPECTED = {
    "fetch-all": (15000, 7481143168),
    "by-id": (15000, 7481143168),
    "traverse": (15000, 7481143168),
    "fetch-page": (50000, 25114860063),
    "count": (1000, 187421),
    "update": (1500, 7480944811),
    "update-each": (1500, 7480944811),
    "delete": (1500, 6711450165),
}


class Watch:
    """Adds up the stretches of time that count."""

    def __init__(self):
        self.seconds = 0.0

    def __enter__(self):
        self.since = time.perf_counter()

    def __exit__(self, *_):
        self.seconds += time.perf_counter() - self.since


def concurrently(page, work, watch):
    """Does the work while another thread asks for pages."""
    is_over = threading.Event()

    def read():
        while not is_over.is_set():
            for low, initial in questions():
                page(low, initial)
                if is_over.is_set():
                    break

    reader = threading.Thread(target=read)
    reader.start()
    with watch:
        work()
    is_over.set()
    reader.join()


def tell(watch, check, path, version, **more):
    """Prints what a work took and found. A store that an import has left is compared to the last field."""
    peak = 0.0
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            peak = int(line.split()[1]) * 1024 / 1e6
    found = {"rows": check[0], "sum": check[1]} if check else {"rows": 0, "sum": 0}
    print(json.dumps({
        "seconds": round(watch.seconds, 6), "peak_mb": round(peak, 1), "file": path, "version": version, **found, **more}))
