"""The same jobs for discreet. `design` also rounds to integers and proves the guarantee, which no peer does."""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np

import discreet as dc
from discreet.certify.rounding import round_columns
from discreet.mechanisms.grr import grr
from discreet.mechanisms.oue import oue
from discreet.release.randomness import Keystream
from discreet.release.sampling import Sampler


def vertices(job: dict) -> dict:
    joint = dc.Joint(np.array(job["table"]))
    design = dc.design(joint, dc.LIP(job["epsilon"]), time_limit=job["limit"])
    if not design.is_optimal(1e-5):
        return {"failed": f"gap {design.gap:.1e}"}
    return {"value": design.utility, "gap": design.gap}


def sample(job: dict) -> dict:
    letters = job["letters"]
    joint = dc.Joint(np.full((2, letters), 0.5 / letters))
    channel = {"grr": grr, "oue": oue}[job["mechanism"]](joint, job["epsilon"])
    sampler = Sampler(round_columns(channel.matrix))
    codes = np.random.default_rng(0).integers(letters, size=job["records"]).astype(np.uint8)
    stream = Keystream.fresh()
    sampler.sample(codes[:1000], stream)
    started = time.perf_counter()
    sampler.sample(codes, stream)
    return {"rows_per_second": len(codes) / (time.perf_counter() - started)}


def main() -> None:
    job = json.load(sys.stdin)
    started = time.perf_counter()
    answer = {"vertices": vertices, "sample": sample}[job["task"]](job)
    answer["seconds"] = time.perf_counter() - started
    answer["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
