"""Every way to make a mechanism, by name, and the ladder that `auto` climbs.

A method says what it is called, whether it proves that nothing keeps more, why it does not suit a problem, and how it
searches. Whether it suits is data: the ladder, the error for a wrong `method=` and the list of methods all read it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.mechanisms import CLOSED_FORMS, ClosedForm
from discreet.notions import LDP, LIP, SRLIP
from discreet.notions.average import OnAverage
from discreet.notions.funnel import Funnel
from discreet.notions.notion import Notion
from discreet.notions.ordinary_ldp import LISTED_LETTERS, OrdinaryLDP
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.solvers.agreement import MOST_ENTRIES, agree, refuses_agreement
from discreet.solvers.columns.generation import compile_averages, compile_search, generate_columns
from discreet.solvers.driver import Search, solve
from discreet.solvers.enumeration import MOST_RAYS, enumerate_rows
from discreet.solvers.known_joint.curator_funnel import curator_rows, funnel_bound
from discreet.solvers.known_joint.refinement import refine, refuses_refinement, report_letters
from discreet.solvers.nested import from_less
from discreet.solvers.problem import Effort, Problem, Solution
from discreet.solvers.robust import portfolio
from discreet.solvers.robust.intervals.search import compile_interval_search, search_intervals, search_whole_rows
from discreet.solvers.robust.optimum import compile_robust_search
from discreet.solvers.side_channels import attribute_budgets
from discreet.solvers.side_channels.attribute_budgets import audited_product, refuses_product, safe_product
from discreet.solvers.side_channels.disclosure_bound import disclosure_bound
from discreet.solvers.two_secrets.best_partners import compile_partners
from discreet.solvers.two_secrets.pair_generation import generate_pairs, refuses_pairs
from discreet.solvers.vertices.accurate_mechanism import (
    accurate_mechanism,
    listed_information,
    refuses_accuracy,
    refuses_walk,
)
from discreet.solvers.vertices.accurate_rows import compile_accuracy
from discreet.solvers.vertices.walk import MOST_VERTICES
from discreet.solvers.wide.class_mechanism import compile_classes, refuses_classes, search_classes
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.sets import Everything, Exactly
from discreet.utilities.accuracy import Accuracy, Balance
from discreet.utilities.agreement import Agreement
from discreet.utilities.utility import MutualInformation, Separable, Utility

DISCLOSED_LETTERS = 60
"""Above so many letters the optimum under SRLIP is out of reach, and a bound from fewer conditions pays."""
DISCLOSED_SECONDS = 60.0
"""For that bound, where nobody gave a limit."""
EXACT_ROBUST_LETTERS = 16
"""The certified robust optimum ends within its minute up to about so many letters."""
SIDE_CHANNEL_LETTERS = 20_000
"""Above so many letters the conditions of SRLIP on the whole of X do not fit into memory."""
WIDE_LETTERS, WIDE_CURATOR = 120, 1_000
"""Above so many letters that somebody has, climbing by slopes misses rows that walks find; for a curator later."""
COUPLED_SECRETS = 50
"""Bands compare every two secrets: above so many one round does not end within the minute."""


def _always(problem: Problem) -> None:
    """Suits every problem, compiles nothing."""


def _refuses_intervals(problem: Problem) -> str | None:
    notion = problem.notion
    stated = isinstance(notion, (RLDP, RLIP)) and isinstance(notion.uncertainty, Confidence)
    return None if stated else "this search is made for robust LDP and robust LIP over Confidence"


def _compiled(problem: Problem) -> None:
    if isinstance(problem.notion, OnAverage):
        compile_search()
        compile_averages()
    elif _refuses_intervals(problem) is None:
        compile_interval_search()
    else:
        (compile_robust_search if isinstance(problem.notion, RLDP) else compile_search)()


def _compiles_accuracy(problem: Problem) -> None:
    compile_accuracy()


@dataclass(frozen=True)
class Method:
    """A way to make a mechanism. `suits` answers None or why not, in words; `proves`: its bounds hold for all; `size`:
    for how large a problem it is, in words; `averages`: it also solves problems with a promise about an average."""

    name: str
    title: str
    solutions: Search
    suits: Callable[[Problem], str | None] = _always
    proves: bool = False
    compiles: Callable[[Problem], None] = _always
    averages: bool = False
    size: str = "any number of letters"

    def refuses(self, problem: Problem) -> str | None:
        """Why it does not suit the problem, in words; most methods look at rows only, and know no averages."""
        if not self.averages and isinstance(problem.notion, OnAverage):
            return "a promise about an average over the outputs, which this method does not look at"
        return self.suits(problem)

    def solve(self, problem: Problem, effort: Effort) -> Solution:
        """The best solution within the effort. What is compiled the first time is no part of it."""
        refused = self.refuses(problem)
        if refused is not None:
            planned = plan(*problem.asked, problem.utility).method == self.name
            remedy = (
                "Use another utility, or another notion." if planned else 'Use method="auto", or another one by name.'
            )
            raise ParameterError(refused, where=self.name, remedy=remedy)
        before = time.monotonic()
        self.compiles(problem)
        return solve(self.solutions, problem, effort.later(time.monotonic() - before))


def _columns(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """Column generation; for robust LDP with cuts, for SRLIP on many letters with a bound from fewer conditions, for
    ordinary LDP on many letters over staircases."""
    notion, known = problem.notion, math.inf
    if isinstance(notion, Funnel) and problem.utility is MutualInformation:
        return generate_columns(problem, effort, funnel_bound(problem), curator_rows(problem, effort))
    if _refuses_intervals(problem) is None:
        return search_whole_rows(problem, effort)
    if isinstance(notion, RLDP) and not problem.cone.complete:
        return portfolio.robust_optimum(problem, effort)
    if isinstance(notion, (SRLIP, OrdinaryLDP)) and problem.utility is MutualInformation:
        joint, _ = problem.asked
        if isinstance(notion, OrdinaryLDP):
            many = len(joint.letters) > LISTED_LETTERS
            return (report_letters if many else generate_columns)(problem, effort)
        if len(joint.letters) > DISCLOSED_LETTERS:
            part = effort.share(0.5).unless_told(DISCLOSED_SECONDS)
            known = disclosure_bound(joint, notion, part)
    if problem.reads_more and notion is not None:
        return from_less(problem, effort, _planned, known)
    return (attribute_budgets.product_first if isinstance(notion, SRLIP) else generate_columns)(problem, effort, known)


def _planned(problem: Problem, effort: Effort) -> Solution:
    """By the method of the ladder."""
    return METHODS[plan(*problem.asked, problem.utility).method].solve(problem, effort)


def _refuses_vertices(problem: Problem) -> str | None:
    robust = isinstance(problem.notion, (RLDP, RLIP)) and not problem.cone.complete
    return "a set of distributions, which has no end of extreme rows" if robust else None


def _closed(form: ClosedForm) -> Method:
    search = portfolio.closed_form(form.name)
    return Method(form.name, form.title, search, lambda problem: form.refuses(*problem.asked), size=form.size)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "vertices", "all extreme rows, listed", enumerate_rows, _refuses_vertices, proves=True,
            size=f"lists of up to {MOST_RAYS:,} rows: about a dozen letters",
        ),
        Method(
            "columns", "column generation with exact pricing", _columns, proves=True, compiles=_compiled, averages=True,
            size="about 100 letters proven to 1e-6 in seconds; beyond, the best found and its gap",
        ),
        Method(
            "intervals", "plans over exact confidence limits", search_intervals, _refuses_intervals, proves=True,
            compiles=_compiled, size="on (S, U) 42 secrets and more; on X alone whole rows to about 60 letters",
        ),
        Method(
            "pairs", "pairs of letters, for two secrets", generate_pairs, refuses_pairs, proves=True,
            compiles=lambda problem: compile_partners(), size="100,000 letters",
        ),
        Method(
            "wide", "classes of letters, for thousands", search_classes, refuses_classes, proves=True,
            compiles=lambda problem: compile_classes(), size="some 20,000 letters; close bounds to few hundred classes",
        ),
        Method(
            "nr", "all of U and the best report on S", refine, refuses_refinement, proves=True, averages=True,
            size="some hundred secrets, any number of values of U",
        ),
        Method(
            "polyopt", "PolyOpt, s ≠ s'", portfolio.polyopt(False), portfolio.refuses_robust, compiles=_compiled,
            size=f"{portfolio.POLYOPT_LETTERS} letters",
        ),
        Method(
            "polyopt-paper", "PolyOpt as printed", portfolio.polyopt(True), portfolio.refuses_robust,
            compiles=_compiled, size=f"{portfolio.POLYOPT_LETTERS} letters",
        ),
        Method(
            "product", "a product, by its exact level", audited_product, refuses_product, compiles=_compiled,
            size=f"{SIDE_CHANNEL_LETTERS:,} letters",
        ),
        Method(
            "product-safe", "a product, proven", safe_product, refuses_product, compiles=_compiled,
            size=f"{SIDE_CHANNEL_LETTERS:,} letters and more",
        ),
        Method(
            "coupling", "bands and polish", portfolio.search_large, portfolio.refuses_robust, compiles=_compiled,
            size=f"2,400 letters, some {COUPLED_SECRETS} secrets",
        ),
        Method(
            "simple", "the best closed form", portfolio.best_closed_form, portfolio.refuses_simple, compiles=_compiled
        ),
        Method(
            "accuracy", "the best estimates, by listing or climbing", accurate_mechanism, refuses_accuracy, proves=True,
            compiles=_compiles_accuracy, size=f"{MOST_VERTICES:,} extreme rows, all; by climbing about 300 letters",
        ),
        Method(
            "agreement", "values that are values", agree, refuses_agreement, proves=True,
            size=f"letters² times conditions up to {MOST_ENTRIES:,}; beyond, families and their level",
        ),
        Method(
            "walk", "all extreme rows by walking along edges", listed_information, refuses_walk, proves=True,
            compiles=_compiles_accuracy, size=f"{MOST_VERTICES:,} extreme rows",
        ),
        *(_closed(form) for form in CLOSED_FORMS.values()),
    )
}  # fmt: skip


# ---- the ladder -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A method by name, and the reason in words."""

    method: str
    why: str


@dataclass(frozen=True)
class Rung:
    """A step of the ladder: when it is taken, in words and in code, which method then, and why."""

    when: str
    method: str
    taken: Callable[[Problem], bool]
    why: Callable[[Problem], str]


def plan(joint: Joint, notion: Notion, utility: Utility = MutualInformation) -> Choice:
    """What `design(joint, notion)` will do: the first of these that applies.

    1. accuracy, or a balance with it: `accuracy`
    2. agreement: `agreement`
    3. X = (S, U), LDP, a funnel, or RLDP with a known distribution, mutual information: `nr`
    4. RLDP or RLIP over exact confidence limits: `intervals`
    5. RLDP on at most 16 letters: `columns`
    6. RLDP with at most 50 secrets and a set that is not everything: `coupling`
    7. RLDP: `simple`
    8. SRLIP on more than 20,000 letters: `product-safe`
    9. LDP or LIP with two secrets seen, on X, and a utility that is a sum over letters: `pairs`
    10. LDP or LIP on more than 120 letters, of X or for a curator on more than 1,000, mutual information: `wide`
    11. anything else: `columns`

    Give it `joint.curator()` to ask about the curator form.

    Arguments:
        joint, notion, utility: those of `design`.
    Returns:
        A `Choice`: `method`, its name, and `why`.
    Raises:
        ParameterError: a utility or a notion that the joint does not allow.
    Example:
        >>> import discreet as dc
        >>> dc.plan(dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]]), dc.LIP(0.5)).method
        'pairs'
    """
    problem = Problem.of(joint, notion, utility)
    rung = next(rung for rung in LADDER if rung.taken(problem))
    return Choice(rung.method, rung.why(problem))


def _letters(problem: Problem) -> int:
    return len(problem.asked[0].letters)


def _robust(problem: Problem) -> bool:
    return isinstance(problem.notion, RLDP)


def _known_distribution(problem: Problem) -> bool:
    joint, notion = problem.asked
    if isinstance(notion, Funnel):
        return refuses_refinement(problem) is None
    known = isinstance(notion, LDP) or (isinstance(notion, RLDP) and isinstance(notion.uncertainty, Exactly))
    return known and joint.include_secret and problem.utility is MutualInformation


def _coupled(problem: Problem) -> bool:
    joint, notion = problem.asked
    few = len(joint.secret_prior) <= COUPLED_SECRETS
    return isinstance(notion, RLDP) and few and not isinstance(notion.uncertainty, Everything)


def _two_secrets(problem: Problem) -> bool:
    joint, notion = problem.asked
    two = len(joint.seen) == 2 and not joint.reads_secret
    return isinstance(notion, (LDP, LIP)) and two and isinstance(problem.utility, Separable)


def _wide(problem: Problem) -> bool:
    joint, _ = problem.asked
    many = int((joint.prior > 0).sum()) > (WIDE_CURATOR if joint.reads_secret else WIDE_LETTERS)
    return many and refuses_classes(problem) is None


def _how(problem: Problem) -> str:
    return "bands and a shared draw" if problem.asked[0].reads_secret else "one output a letter, polished"


LADDER: tuple[Rung, ...] = (
    Rung(
        "accuracy, or a balance with it",
        "accuracy",
        lambda problem: isinstance(problem.utility, Accuracy | Balance),
        lambda _: "All extreme rows are listed where they are few, climbed to where they are many; both with a bound.",
    ),
    Rung(
        "agreement",
        "agreement",
        lambda problem: isinstance(problem.utility, Agreement),
        lambda _: "Values that keep their law are one linear program, with cuts where conditions are too many to list.",
    ),
    Rung(
        "X = (S, U), LDP, a funnel, or RLDP with a known distribution, mutual information",
        "nr",
        _known_distribution,
        lambda _: "X = (S, U) with a known distribution has a closed form: all of U, and the best report on S.",
    ),
    Rung(
        "RLDP or RLIP over exact confidence limits",
        "intervals",
        lambda problem: _refuses_intervals(problem) is None,
        lambda _: "Within confidence limits the worst case of each secret is its own: rows are planned for each apart.",
    ),
    Rung(
        f"RLDP on at most {EXACT_ROBUST_LETTERS} letters",
        "columns",
        lambda problem: _robust(problem) and _letters(problem) <= EXACT_ROBUST_LETTERS,
        lambda problem: (
            f"{_letters(problem)} letters are few enough for the exact robust optimum, by cuts and columns."
        ),
    ),
    Rung(
        f"RLDP with at most {COUPLED_SECRETS} secrets and a set that is not everything",
        "coupling",
        _coupled,
        lambda problem: f"{_letters(problem)} letters are too many for the exact robust optimum: {_how(problem)}.",
    ),
    Rung(
        "RLDP",
        "simple",
        _robust,
        lambda problem: f"{_letters(problem)} letters are too many for the exact robust optimum: the best closed form.",
    ),
    Rung(
        f"SRLIP on more than {SIDE_CHANNEL_LETTERS:,} letters",
        "product-safe",
        lambda problem: isinstance(problem.notion, SRLIP) and _letters(problem) > SIDE_CHANNEL_LETTERS,
        lambda problem: f"{_letters(problem)} letters are too many to handle at once; attribute by attribute, proven.",
    ),
    Rung(
        "LDP or LIP with two secrets seen, on X, and a utility that is a sum over letters",
        "pairs",
        _two_secrets,
        lambda _: "With two secrets the best outputs are single letters and pairs; pricing them is closed form.",
    ),
    Rung(
        f"LDP or LIP on more than {WIDE_LETTERS} letters, of X or for a curator on more than {WIDE_CURATOR:,}, mutual "
        "information",
        "wide",
        _wide,
        lambda _: "With so many letters those of equal posterior are solved as one, and rows are found by walks.",
    ),
    Rung(
        "anything else",
        "columns",
        lambda _: True,
        lambda _: "Column generation with exact pricing ends with a proof at every size, or with its gap.",
    ),
)
