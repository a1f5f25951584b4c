"""Weights for given outputs: the linear program of theory 1.3, one equation per letter, and its prices."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from discreet.arrays import Floats
from discreet.solvers.robust.intervals.lists import Secret
from discreet.solvers.robust.intervals.program import GrowingProgram


class OutputWeights:
    """Outputs v[y, s, u] and the best weights w with Σ_y w_y v_y = 1."""

    def __init__(self, secrets: list[Secret], *, curator: bool = False) -> None:
        self.curator = curator
        self.prior = np.array([secret.mass * secret.estimate for secret in secrets])
        self._program = GrowingProgram(np.ones(self.prior.size), np.ones(self.prior.size))
        self.outputs = np.zeros((0, *self.prior.shape))
        self._seen: set[bytes] = set()

    def worth(self, outputs: Floats) -> Floats:
        """Σ p(s,u) v ln v − h(t̄) of every output; for a curator the same of v̄_u = Σ_s P̂(s|u) v_{s,u}."""
        means = np.einsum("ysu,su->y", outputs, self.prior)
        if self.curator:
            letters = self.prior.sum(axis=0)
            together = np.einsum("ysu,su->yu", outputs, self.prior)
            told = np.divide(together, letters, out=np.ones_like(together), where=letters > 0)
            return np.asarray(xlogy(together, told).sum(axis=1) - means * np.log(means))
        logs = np.log(np.where(outputs > 0, outputs, 1.0))
        return np.asarray(np.einsum("ysu,ysu,su->y", outputs, logs, self.prior) - means * np.log(means))

    def add(self, outputs: Floats) -> int:
        fresh = [i for i, output in enumerate(outputs) if self._new(output)]
        if fresh:
            more = outputs[fresh]
            self._program.add_columns(self.worth(more), more.reshape(len(more), -1))
            self.outputs = np.concatenate([self.outputs, more])
        return len(fresh)

    def _new(self, output: Floats) -> bool:
        key = np.round(output, 9).tobytes()
        fresh = key not in self._seen
        self._seen.add(key)
        return fresh

    def solve(self) -> tuple[float, Floats, Floats]:
        """The value, the weights, and the prices of the letters."""
        found = self._program.solve()
        return found.value, np.maximum(found.x, 0.0), found.prices.reshape(self.prior.shape)
