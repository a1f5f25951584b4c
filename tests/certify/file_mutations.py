"""Damage and forgery of protocol files: bytes changed at random, and fields changed with the hash made right again."""

import hashlib
import json
from contextlib import suppress

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.protocol.file import ESCAPED, canonical, encode, pieces_1
from discreet.uncertainty import ChiSquare, Everything, Renyi

NUMBERS = (0, 1, -1, 2, 2**53, 2**63, 10**30, 0.5, 1e-300, 1e308, -0.0, 3.7, "7", "9" * 16, None, True, [], {})


def originals(rng, count=12):
    """Small tight protocols of every notion, every form, counts and probabilities."""
    notions = (LDP, LIP, SRLIP, OrdinaryLDP, lambda e: RLDP(e, Everything()), lambda e: RLDP(e, ChiSquare(0.9)))
    made = []
    for i in range(count):
        counts = rng.integers(1, 40, (2, 2, 2) if i % 4 == 2 else (2, 3))
        joint = Joint.from_counts(counts, include_secret=i % 3 == 1)
        if i % 5 == 4:
            joint = Joint(counts / counts.sum(), n=100)
        joint = joint.curator() if i % 3 == 2 else joint
        matrix = 0.4 * rng.dirichlet(np.ones(3), size=len(joint.letters)).T + 0.2
        channel, notion = Channel(matrix, joint.letters), notions[i % len(notions)]
        made.append(Protocol.make(channel, joint, notion(notion(1.0).level(channel, joint).epsilon)))
    made.append(Protocol.make(channel, joint, RLDP(9.0, Renyi(1.5, 0.01)), bits=60))
    return [data for protocol in made for data in (first_version(protocol), encode(protocol))]


def first_version(protocol):
    """As version 1 of the file had it."""
    content = json.loads(b"".join(pieces_1(protocol)))
    return canonical({**content, "sha256": hashlib.sha256(canonical(content)).hexdigest()}) + b"\n"


def mutated(rng, data):
    """One mutated file."""
    return damaged(rng, data) if rng.random() < 0.3 else forged(rng, data)


def damaged(rng, data):
    """A few bytes flipped, dropped, doubled, or the file cut off."""
    text = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(len(text)))
        kind = int(rng.integers(4))
        if kind == 0:
            text[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del text[place : place + int(rng.integers(1, 9))]
        elif kind == 2:
            text[place:place] = text[place : place + int(rng.integers(1, 50))]
        else:
            text[place] = int(rng.choice(list(b'0123456789[]{},:"\\-eE')))
    return bytes(text) if rng.random() < 0.9 else bytes(text[: int(rng.integers(len(text)))])


def forged(rng, data):
    """Fields changed by somebody who knows the format, and hashed again."""
    content = json.loads(data)
    for _ in range(int(rng.integers(1, 3))):
        with suppress(KeyError, IndexError, TypeError, AttributeError):  # an earlier forgery may have removed the field
            rng.choice(FORGERIES)(rng, content)
    content.pop("sha256", None)
    try:
        if content.get("version") == 2:
            return escaped(canonical(content)) + b"\n"
        content["sha256"] = hashlib.sha256(canonical(content)).hexdigest()
        return json.dumps(content).encode()
    except Exception:
        return data[:-2]


def escaped(data):
    for sign, escape in ESCAPED.items():
        data = data.replace(sign, escape)
    return data


def _move_weight(rng, content):
    """From one output to another, the letter's total kept."""
    rows = content["weights"]
    if isinstance(rows, dict):
        return _move_sparse_weight(rng, rows)
    if len(rows) < 2 or not all(isinstance(row, list) and row for row in rows):
        return
    z = int(rng.integers(len(rows[0])))
    a, b = rng.choice(len(rows), 2, replace=False)
    if any(type(rows[i][z]) is not int for i in (a, b)):
        return
    share = int(rows[a][z] * 10.0 ** rng.uniform(-15, 0))
    rows[a][z], rows[b][z] = rows[a][z] - share, rows[b][z] + share


def _move_sparse_weight(rng, weights):
    values = weights["values"][int(rng.integers(len(weights["values"])))]
    if len(values) < 2:
        return
    a, b = rng.choice(len(values), 2, replace=False)
    moved = [int(values[i]) for i in (a, b)]
    share = int(moved[0] * 10.0 ** rng.uniform(-15, 0))
    values[a], values[b] = (w if w < 2**53 else str(w) for w in (moved[0] - share, moved[1] + share))


def _lower_epsilon(rng, content):
    factor = 1 - 10.0 ** rng.uniform(-13, 0)
    for holder in (content, content["notions"][0] if "notions" in content else content["notion"]):
        if isinstance(holder.get("epsilon"), str):
            holder["epsilon"] = repr(float(holder["epsilon"]) * factor)
        if isinstance(holder.get("epsilon"), float):
            holder["epsilon"] *= factor


def _change_counts(rng, content):
    joint = content["joint"]
    for name in ("counts", "probabilities"):
        if isinstance(joint.get(name), list) and joint[name]:
            i = int(rng.integers(len(joint[name])))
            joint[name][i] = _anything(rng) if rng.random() < 0.3 else int(rng.integers(0, 90))
            if all(type(k) is int for k in joint[name]) and rng.random() < 0.8:
                joint["n"] = sum(joint[name])


def _change_notion(rng, content):
    stated = content["notions"][0] if "notions" in content else content["notion"]
    number = repr if "notions" in content else float
    kind = int(rng.integers(4))
    if kind == 0:
        stated["name"] = str(rng.choice(["LDP", "LIP", "SRLIP", "OrdinaryLDP", "RLDP", "os.system"]))
    elif kind == 1:
        stated["uncertainty"] = {"name": str(rng.choice(["Exactly", "Everything", "ChiSquare", "Renyi"]))}
    elif kind == 2:
        stated["uncertainty"] = {
            "name": "Renyi",
            "order": number(10.0 ** rng.uniform(-3, 3)),
            "radius": number(10.0 ** rng.uniform(-9, 3)),
        }
    else:
        stated["uncertainty"] = {"name": "ChiSquare", "confidence": number(float(rng.random()))}


def _change_form(rng, content):
    content["joint"]["form"] = str(rng.choice(["funnel", "include_secret", "sees_secret", "none"]))


def _swap_letters(rng, content):
    rng.shuffle(content["outputs"])
    letters = content["joint"]["releases"][0]["letters"]
    letters[int(rng.integers(len(letters)))] = _anything(rng)


def _replace_anything(rng, content):
    """Some value, somewhere, by something else."""
    holder = content
    for _ in range(int(rng.integers(1, 6))):
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return
        key = keys[int(rng.integers(len(keys)))]
        if isinstance(holder[key], dict | list) and rng.random() < 0.8:
            holder = holder[key]
            continue
        holder[key] = _anything(rng)
        return


def _drop_or_add(rng, content):
    holder = content if rng.random() < 0.5 else content["joint"]
    if rng.random() < 0.5:
        holder.pop(str(rng.choice(list(holder))), None)
    else:
        holder["extra"] = _anything(rng)


def _anything(rng):
    return NUMBERS[int(rng.integers(len(NUMBERS)))]


FORGERIES = [
    _move_weight,
    _move_weight,
    _lower_epsilon,
    _change_counts,
    _change_notion,
    _change_form,
    _swap_letters,
    _replace_anything,
    _drop_or_add,
]
