"""Leakages beside libqif's, and what fairlearn's CorrelationRemover tells about what it removes.

    python benchmarks/fair_and_flow.py PYTHON

PYTHON is the interpreter of an environment with `qif` and `fairlearn` (pip install qif fairlearn); they are no
dependencies of the project. Mechanisms are handed over as JSON, numbers come back the same way.
"""

from __future__ import annotations

import json
import math
import platform
import subprocess
import sys
from datetime import date

import numpy as np

import discreet as dc
from discreet.datasets import adult
from discreet.information import leakage

THEIRS = """
import json, sys
import numpy, qif
from importlib.metadata import version
from fairlearn.preprocessing import CorrelationRemover
given = json.load(sys.stdin)
answers = []
for one in given["channels"]:
    prior, channel = numpy.array(one["prior"]), numpy.array(one["channel"])
    answers.append({
        "I(S;Y)": qif.measure.shannon.add_leakage(prior, channel),
        "maximal leakage": qif.measure.bayes_vuln.mult_capacity(channel),
        "best guess": qif.measure.bayes_vuln.posterior(prior, channel),
        "LDP": qif.measure.d_privacy.smallest_epsilon(channel, qif.metric.discrete()),
    })
table = numpy.array(given["table"], float)
moved = CorrelationRemover(sensitive_feature_ids=[0]).fit_transform(table)[:, 0]
json.dump({"answers": answers, "moved": moved.tolist(), "qif": version("qif"), "fairlearn": version("fairlearn")},
          sys.stdout)
"""
ORDER = [
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
]  # fmt: skip


def main(python: str) -> None:
    people = adult()
    channels, ours = [], []
    for secret in ("sex", "race", "marital-status", "occupation"):
        joint = dc.Joint.from_table(people, secret=secret, release="education")
        channel = dc.design(joint, dc.LIP(0.5)).protocol.channel
        given = (channel.rows @ joint.letter_given_secret.T).T
        audit = dc.audit(channel, joint)
        prior = joint.secret_prior
        channels.append({"prior": (prior / prior.sum()).tolist(), "channel": np.asarray(given).tolist()})
        ours.append(
            {
                "I(S;Y)": leakage(joint, channel) / math.log(2),
                "maximal leakage": math.exp(audit.levels["MaximalLeakage"].epsilon),
                "best guess": float((np.asarray(given) * prior[:, None]).max(axis=0).sum()),
                "LDP": audit.ldp,
            }
        )
    sexes = np.array([value == "Male" for value in people["sex"].to_pylist()], float)
    ranks = np.array([ORDER.index(value) for value in people["education"].to_pylist()], float)
    work = {"channels": channels, "table": np.column_stack([sexes, ranks]).tolist()}
    done = subprocess.run([python, "-c", THEIRS], input=json.dumps(work), capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout)
    print(f"{date.today()}, {platform.machine()}, qif {theirs['qif']}, fairlearn {theirs['fairlearn']}")
    for name in ours[0]:
        apart = max(abs(a[name] - b[name]) for a, b in zip(ours, theirs["answers"], strict=True))
        print(f"{name}: largest difference to libqif over four secrets {apart:.1e}")
    moved = np.round(theirs["moved"], 9)
    before, after = (np.corrcoef(one, sexes)[0, 1] for one in (ranks, moved))
    print(f"correlation with sex before {before:.4f}, after {after:.1e}")
    alone = sum(len(set(sexes[moved == value])) == 1 for value in np.unique(moved))
    print(f"values after CorrelationRemover that only one sex has: {alone} of {len(np.unique(moved))}")


if __name__ == "__main__":
    main(sys.argv[1])
