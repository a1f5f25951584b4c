"""Train a classifier on a release, and compare it with one trained on the clean table.

Somebody wants to learn from education and occupation who earns more than 50,000 dollars. The owner of the table must
not reveal anybody's sex, so education and occupation are released through a protocol that limits what an output says
about it. The income class is public and kept as it is: what that column says about sex is not limited by the protocol.
Several releases are made here, only to show how much the results vary.

Run: python examples/classifier.py [epsilon]      (needs scikit-learn: pip install "discreet[examples]")
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OneHotEncoder

from discreet.datasets import adult
from discreet.design import design
from discreet.estimate import estimate, estimate_by, weighted
from discreet.joint import Joint
from discreet.notions import LIP

SECRET, FEATURES, CLASS, POSITIVE = "sex", ["education", "occupation"], "income", ">50K"
RELEASES, PSEUDO_RECORDS = 5, 500.0
Results = dict[str, list[tuple[float, float]]]


def main(epsilon: float, releases: int = RELEASES) -> Results:
    """(accuracy, AUC) of every release, by what was trained on."""
    table = adult()
    held_out = np.random.default_rng(1).random(table.num_rows) < 0.3
    train, test = table.filter(pa.array(~held_out)), table.filter(pa.array(held_out))
    joint = Joint.from_table(train, secret=SECRET, release=FEATURES)
    found = design(joint, LIP(epsilon), gap=1e-3, time_limit=60)
    protocol = found.protocol
    print(
        f"LIP at epsilon {epsilon:g}: {len(joint.letters)} letters, {len(protocol.outputs)} outputs, "
        f"{found.utility / joint.entropy:.0%} of the information kept"
    )
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(as_text(joint.letters))
    letters, unseen = encoder.transform(as_text(joint.letters)), encoder.transform(features(test))
    truth = is_positive(test)

    def judged(model: LogisticRegression) -> tuple[float, float]:
        score = model.predict_proba(unseen)[:, 1]
        return float(((score > 0.5) == truth).mean()), float(roc_auc_score(truth, score))

    clean = LogisticRegression(max_iter=1000).fit(encoder.transform(features(train)), is_positive(train))
    results: Results = {"the clean table": [judged(clean)]}
    for _ in range(releases):
        released = protocol.sanitise(train, keep=[CLASS], keep_anyway=True)
        whole = estimate(released, protocol, method="likelihood")
        weights = {"P(x | y)": weighted(released, protocol, whole)}
        for pseudo in (0.0, PSEUDO_RECORDS):
            groups = estimate_by(released, protocol, CLASS, method="likelihood", pseudo_records=pseudo)
            weights[f"P(x | y, class), {pseudo:g} pseudo-records"] = weighted(released, protocol, groups, by=CLASS)
        for name, table_of_weights in weights.items():
            model = learnt(letters, table_of_weights, is_positive(released))
            results.setdefault(f"the release, {name}", []).append(judged(model))
    print(f"{'trained on':52s} accuracy         AUC        (on {len(truth):,} clean records never seen)")
    for name, figures in results.items():
        (accuracy, area), spread = np.mean(figures, axis=0), np.std(figures, axis=0)
        print(f"{name:52s} {accuracy:.4f} ± {spread[0]:.4f}  {area:.4f} ± {spread[1]:.4f}")
    print(f"{'nothing: always the larger class':52s} {max(truth.mean(), 1 - truth.mean()):.4f}           0.5000")
    return results


def learnt(letters: np.ndarray, weights: np.ndarray, classes: np.ndarray) -> LogisticRegression:
    """Every letter once a class, weighted by how many records of that class probably have it."""
    totals = np.concatenate([weights[~classes].sum(axis=0), weights[classes].sum(axis=0)])
    labels = np.repeat([False, True], len(letters))
    return LogisticRegression(max_iter=1000).fit(np.concatenate([letters, letters]), labels, sample_weight=totals)


def features(part: pa.Table) -> np.ndarray:
    return as_text(list(zip(*(part[name].to_pylist() for name in FEATURES), strict=True)))


def as_text(letters: object) -> np.ndarray:
    return np.array(letters, dtype=object).astype(str)


def is_positive(part: pa.Table) -> np.ndarray:
    return np.array(part[CLASS].to_pylist()) == POSITIVE


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.2)
