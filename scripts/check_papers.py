"""Computes items of the papers again and says whether every printed number comes out as recorded: `make papers-check`.

    python scripts/check_papers.py [--quick] [ITEM …]       all of them take an hour on two cores, --quick five minutes

What must come out is in `src/discreet/papers/expected`: the printed number within its tolerance or, where the papers
are wrong (docs/errata.md), the number recorded beside it. Ends with 1 if one does not.
"""

from __future__ import annotations

import sys
import time

from discreet.papers import Workload, find
from discreet.papers.printed_numbers import compare


def main(arguments: list[str]) -> int:
    quick = "--quick" in arguments
    names = [name for name in arguments if name != "--quick"] or ["all"]
    wrong = 0
    for item in dict.fromkeys(item for name in names for item in find(name)):
        started = time.monotonic()
        compared = compare(item.name, item.make(Workload(quick=quick)))
        broken = [entry.sentence(measured) for entry, measured in compared if not entry.holds(measured)]
        told = f"{len(compared)} numbers, {len(broken)} not as recorded, {time.monotonic() - started:.0f} s"
        print(f"{item.name}: {told}", *(f"\n  {sentence}" for sentence in broken), flush=True)
        wrong += len(broken)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
