"""The bars of the embedded judge as rows: what was asked, how often, the figure, the bar, and whether it is met.

A row whose data are not at hand has n 0 and no figure; it is neither met nor missed.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from scoring.claims.evaluation import Report

# Kinds of the constructed pairs (field `orig` of a row): one change each, and evidence that is not there.
CORRUPTED = ("number", "negation", "antonym", "entity-other", "entity-swap")
_CONFLICTS = ("number", "negation", "antonym")
_ABSENT = ("other-page", "same-page-missing")
_CONSTRUCTED = "perturb"
_NATURAL = ("vitc", "fm2_", "wice")  # codespell:ignore wice
_ANSWERS = "cmrcv"
_CONTROL = "someone_elses_evidence"


class Bar(Struct, frozen=True, kw_only=True):
    """One row. `at_most` says on which side of the bar the figure must lie; counts stand behind it in n."""

    what: str
    language: str
    n: int
    figure: float | None
    bar: float
    at_most: bool

    @property
    def is_met(self) -> bool | None:
        """Whether the figure reaches the bar; None without data."""
        if self.figure is None:
            return None
        return self.figure <= self.bar if self.at_most else self.figure >= self.bar


def claim_bars(reports: Mapping[str, Report]) -> tuple[Bar, ...]:
    """Return the rows from the reports of `scoring.claims.evaluation.evaluate`."""
    return (
        *_constructed(reports, "en", corrupted=0.02, verbatim=0.83),
        *_constructed(reports, "zh", corrupted=0.04, verbatim=0.87),
        *_natural([each for name, each in reports.items() if _is_whole(name, _NATURAL)]),
        *_answers([each for name, each in reports.items() if _is_whole(name, (_ANSWERS,))]),
        _control(reports),
    )


def _is_whole(name: str, sets: Sequence[str]) -> bool:
    """Say whether a report is that of a whole set in one language, and not of a kind of its rows."""
    return name.startswith(tuple(sets)) and name.count("/") == 1


def _constructed(
    reports: Mapping[str, Report], language: str, *, corrupted: float, verbatim: float
) -> Iterator[Bar]:
    def row(what: str, kinds: Sequence[str], said: str, bar: float, *, at_most: bool) -> Bar:
        found = [
            each
            for name, each in reports.items()
            if name.startswith(_CONSTRUCTED)
            and name.split("/")[1:] in [[language, k] for k in kinds]
        ]
        n = sum(_count(each, "n") for each in found)
        figure = sum(_said(each, said) for each in found) / n if n else None
        return Bar(what=what, language=language, n=n, figure=figure, bar=bar, at_most=at_most)

    yield row("corruptions answered TRUE", CORRUPTED, "TRUE", corrupted, at_most=True)
    yield row("evidence not there, answered TRUE", _ABSENT, "TRUE", 0.0, at_most=True)
    yield row("verbatim sentences kept TRUE", ("verbatim",), "TRUE", verbatim, at_most=False)
    yield row("conflicts named FALSE", _CONFLICTS, "FALSE", 0.85, at_most=False)


def _natural(found: Sequence[Report]) -> Iterator[Bar]:
    said = sum(_said(each, "TRUE") for each in found)
    right = sum(_part(each, "precision_true", _said(each, "TRUE")) for each in found)
    refuted = sum(_labelled(each, "FALSE") for each in found)
    wrong = sum(_part(each, "true_given_false", _labelled(each, "FALSE")) for each in found)
    yield _row("natural claims: precision of TRUE", "en", said, right, 0.93, at_most=False)
    yield _row("natural claims: TRUE given refuted", "en", refuted, wrong, 0.005, at_most=True)


def _answers(found: Sequence[Report]) -> Iterator[Bar]:
    said = sum(_said(each, "TRUE") for each in found)
    right = sum(_part(each, "precision_true", _said(each, "TRUE")) for each in found)
    true = sum(_labelled(each, "TRUE") for each in found)
    named = sum(_said(each, "FALSE") for each in found)
    refuted = sum(_part(each, "precision_false", _said(each, "FALSE")) for each in found)
    yield _row("answers to questions: precision of TRUE", "zh", said, right, 0.95, at_most=False)
    yield _row("answers to questions: coverage of TRUE", "zh", true, right, 0.39, at_most=False)
    yield _row("answers to questions: right in FALSE", "zh", named, refuted, 0.85, at_most=False)


def _control(reports: Mapping[str, Report]) -> Bar:
    found = [each for name, each in reports.items() if name.endswith(_CONTROL)]
    n, wrong = (sum(_count(each, name) for each in found) for name in ("n", "said_true"))
    return _row("someone else's evidence, answered TRUE", "all", n, wrong, 0.0, at_most=True)


def _row(what: str, language: str, n: int, part: int, bar: float, *, at_most: bool) -> Bar:
    figure = part / n if n else None
    return Bar(what=what, language=language, n=n, figure=figure, bar=bar, at_most=at_most)


def _count(report: Report, name: str) -> int:
    value = report[name]
    return value if isinstance(value, int) else 0


def _said(report: Report, verdict: str) -> int:
    return _within(report, "said", verdict)


def _labelled(report: Report, label: str) -> int:
    return _within(report, "labels", label)


def _within(report: Report, name: str, key: str) -> int:
    found = report[name]
    return int(found.get(key, 0)) if isinstance(found, dict) else 0


def _part(report: Report, share: str, whole: int) -> int:
    """Return the count behind a share; shares have four decimals, which is exact for fewer than 5,000 rows."""
    value = report[share]
    return round(value * whole) if isinstance(value, float) else 0


def as_table(bars: Sequence[Bar]) -> str:
    """Return the rows as lines of text: figure and bar, with n, and `met`, `MISSED` or `no data`."""
    head = f"{'':44} {'lang':4} {'n':>6} {'figure':>8} {'bar':>9}"
    return "\n".join([head, *(_line(each) for each in bars)])


def _line(bar: Bar) -> str:
    figure = "" if bar.figure is None else f"{bar.figure:.4f}"
    sign = "<=" if bar.at_most else ">="
    state = {True: "met", False: "MISSED", None: "no data"}[bar.is_met]
    return f"{bar.what:44} {bar.language:4} {bar.n:6} {figure:>8} {sign} {bar.bar:6.3f} {state}"
