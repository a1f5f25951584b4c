"""A table with one column of every kind, and values that few records have: a canary in each of them."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa

LONG = "the only one who wrote this long sentence here"
CANARIES = ("zebra-7", "777777", "88.8125", "2031-12-31", "person-00017", LONG)


def messy(records: int = 1200) -> pa.Table:
    rng = np.random.default_rng(3)
    health = rng.choice(["well", "ill"], records, p=[0.7, 0.3])
    colour = np.where(rng.random(records) < 0.8, np.where(health == "ill", "red", "blue"), "green").astype(object)
    colour[5] = "zebra-7"
    age = rng.integers(18, 90, records)
    age[6] = 777777
    wage = np.round(rng.lognormal(3, 0.5, records), 4)
    wage[7] = 88.8125
    days = [date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 10, records)]
    days[8] = date(2031, 12, 31)
    words = [f"somebody wrote a sentence that nobody else has written, number {i}" for i in range(records)]
    words[9] = LONG
    return pa.table(
        {
            "health": health,
            "colour": colour,
            "age": age,
            "wage": wage,
            "day": days,
            "person": [f"person-{i:05d}" for i in range(records)],
            "words": words,
            "vote": rng.choice(["yes", "no"], records),
            "country": ["here"] * records,
            "nothing": pa.nulls(records, pa.string()),
            "gaps": [None if i % 10 == 0 else "?" if i % 10 == 1 else "x" if i % 2 else "y" for i in range(records)],
            "parts": [{"a": 1}] * records,
        }
    )
