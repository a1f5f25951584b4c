"""The same jobs for discreet. `design` also rounds to integers and proves the guarantee, which no peer does."""

from __future__ import annotations

import json
import sys

import numpy as np
from clock import measured, rate

import discreet as dc
from discreet.certify.exact_arithmetic import round_columns
from discreet.mechanisms.randomised_response import grr
from discreet.mechanisms.unary_encoding import oue
from discreet.randomness import Keystream
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
    codes = np.random.default_rng(0).integers(letters, size=1_000_000).astype(np.uint8)
    stream = Keystream.fresh()
    return {"rows_per_second": len(codes) * rate(lambda: sampler.sample(codes, stream))}


if __name__ == "__main__":
    print(json.dumps(measured({"vertices": vertices, "sample": sample}, json.load(sys.stdin))))
