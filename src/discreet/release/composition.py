"""What several releases of the same records tell together.

Budgets add up when a mechanism reads the secret alone. They do *not* when it reads data that are merely correlated with
the secret: two draws that each say nothing about S can together say everything. Let X = (A, B) be two fair coins,
S = A xor B, and let a draw show A or B at random: one draw has level 0, two show S half of the time. So the level of k
independent draws is taken from the channel that makes k draws, Q[(y_1 … y_k), z] = Π_i Q[y_i, z], which is exact; where
that is too large, from the identity, because any number of draws tells at most z itself.
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Final

import numpy as np

from discreet.channel import Channel
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol

MOST_CELLS: Final = 4_000_000
MOST_ROBUST_ROWS: Final = 500
MOST_DRAWS: Final = 64
SMALLEST_LOG: Final = 600.0
"""Products below e^−600 may underflow, and an output that seems impossible would hide what it tells."""
ROUNDING: Final = 1e-9


def total_epsilon(protocol: Protocol, draws: int) -> float:
    """The level of that many independent releases of the same records, rounded up; 0 for none."""
    if draws <= 1:
        return protocol.epsilon if draws else 0.0
    most = MOST_ROBUST_ROWS if isinstance(protocol.notion, RLDP) else MOST_CELLS // len(protocol.inputs)
    level = protocol.notion.level(repeated(protocol.channel, draws, most), protocol.joint).epsilon
    return max(protocol.epsilon, math.ceil(level / ROUNDING) * ROUNDING if math.isfinite(level) else math.inf)


def repeated(channel: Channel, draws: int, most: int) -> Channel:
    """`draws` independent draws, in any order; a channel that tells more where that takes more than `most` rows."""
    matrix = channel.matrix[channel.matrix.any(axis=1)]
    if draws * -math.log(matrix[matrix > 0].min()) > SMALLEST_LOG:
        return Channel(np.eye(matrix.shape[1]), channel.inputs)
    if draws > MOST_DRAWS or math.comb(len(matrix) + draws - 1, draws) > most:
        return Channel(np.eye(matrix.shape[1]), channel.inputs)
    rows = []
    for chosen in combinations_with_replacement(range(len(matrix)), draws):
        orders = math.factorial(draws) // math.prod(math.factorial(chosen.count(y)) for y in set(chosen))
        rows.append(orders * np.prod(matrix[list(chosen)], axis=0))
    return Channel(np.array(rows), channel.inputs)
