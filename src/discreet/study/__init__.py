"""What a steward needs in order to decide: a design, and what it is compared with.

The problem: one number says little; a promise is judged beside other promises, other forms and what analysts will get.
The theorem: none of its own; every value is that of a proven protocol, every bound that of a solver.
The entrance: `Study.begin`, or `Study(protocol)` for one that was read; `with_…` adds a part, `facts` tells all;
`designing` goes there from a `StudyFile`.
The size it is for: that of `design`; comparisons have a few seconds each and share what a time limit leaves them.
What it proves: nothing; the protocol in it is proven.
"""

from discreet.study.balance import Balanced
from discreet.study.comparisons import OPTIMUM, Costly, Curves, Point, costly_secrets, trade_off
from discreet.study.designing import begun, counted_joint, judged
from discreet.study.purposes import Needed, Purpose, needed_epsilon
from discreet.study.study import SEARCH, Study, Watcher

__all__ = [
    "OPTIMUM",
    "SEARCH",
    "Balanced",
    "Costly",
    "Curves",
    "Needed",
    "Point",
    "Purpose",
    "Study",
    "Watcher",
    "begun",
    "costly_secrets",
    "counted_joint",
    "judged",
    "needed_epsilon",
    "trade_off",
]
