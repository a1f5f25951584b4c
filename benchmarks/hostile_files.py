"""What reading a hostile protocol file costs: processor time at 1 and 4 MiB, and memory as a multiple of the file."""

import sys
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "faults"))

from hostile_files import SHAPES

import discreet as dc
from discreet.protocol.file import decode

MIB = 1 << 20
NOTICEABLE = 0.01
"""Seconds; a factor of two shorter times says something about the clock."""


def seconds(shape: str, size: int) -> float:
    data = SHAPES[shape](size)
    started = time.process_time()
    with suppress(dc.ProtocolError):
        decode(data)
    return time.process_time() - started


def memory(shape: str, size: int) -> float:
    """The largest amount held while reading, the file included, over the size of the file."""
    data = SHAPES[shape](size)
    tracemalloc.start()
    with suppress(dc.ProtocolError):
        decode(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak + len(data)) / len(data)


def main() -> None:
    print(f"{'shape':32s} {'1 MiB':>8s} {'4 MiB':>8s} {'factor':>7s} {'memory':>7s}")
    factors, memories = [], []
    for shape in SHAPES:
        seconds(shape, MIB // 16)
        first, later = (min(seconds(shape, size) for _ in range(3)) for size in (MIB, 4 * MIB))
        factor = later / max(first, NOTICEABLE)
        factors.append(factor)
        memories.append(memory(shape, MIB))
        print(f"{shape:32s} {first:7.3f}s {later:7.3f}s {factor:7.2f} {memories[-1]:6.1f}x", flush=True)
    print(f"largest factor {max(factors):.2f} (four times the size), largest memory {max(memories):.1f} times the file")


if __name__ == "__main__":
    main()
