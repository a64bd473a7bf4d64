"""Programs and candidates at random, for comparing executors: mostly well-typed, every operator, many faults."""

import random

from signal_search.contracts.scorer import LANGUAGE, ScorerProgram

Row = dict[str, float | None]

_NUMBERS = ("0", "1", "0.5", "2", "1e308", "3e-324", "-0", "709", "0.1")
_FEATURES = ("lexical", "phrase", "source_count")
_NULLABLE = ("citations", "year", "age_years", "where(lexical > 0.5, citations, year)", "lexical")
_TRUTHS = ("true", "false", "lexical > 0.5", "is_missing(citations)", "lexical == phrase")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Programs:
    """Writes programs from a seed; the same seed writes the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def program(self) -> ScorerProgram:
        score = self.number(self._random.randint(1, 5))
        condition = self.truth(self._random.randint(0, 3))
        return ScorerProgram(language=LANGUAGE, score=score, filter=condition)

    def number(self, depth: int) -> str:
        pick = self._random
        if depth <= 0:
            return pick.choice((*_NUMBERS, *_FEATURES, *_FEATURES, "coalesce(citations, 0)"))
        forms = (
            lambda a: f"({a()} {pick.choice('+-*/')} {a()})",
            lambda a: f"{a()} {pick.choice('+-*/')} {a()}",
            lambda a: f"{pick.choice('+-')}{a()}",
            lambda a: f"{pick.choice(('min', 'max'))}({a()}, {a()})",
            lambda a: f"clamp({a()}, {a()}, {a()})",
            lambda a: f"{pick.choice(('log1p', 'sqrt', 'exp', 'abs'))}({a()})",
            lambda a: f"coalesce({pick.choice(_NULLABLE)}, {a()})",
            lambda a: f"where({self.truth(depth - 1)}, {a()}, {a()})",
        )
        return pick.choice(forms)(lambda: self.number(depth - 1))

    def truth(self, depth: int) -> str:
        pick = self._random
        if depth <= 0:
            return pick.choice(_TRUTHS)
        forms = (
            lambda a: f"({a()} and {a()})",
            lambda a: f"({a()} or {a()} or {a()})",
            lambda a: f"{a()} and {a()} and {a()}",
            lambda a: f"(not {a()})",
            lambda a: f"(({a()}) {pick.choice(('==', '!='))} ({a()}))",
            lambda a: f"where({a()}, {a()}, {a()})",
            lambda _: f"is_missing({pick.choice(_NULLABLE)})",
            lambda _: (
                f"({self.number(depth - 1)} {pick.choice(_COMPARISONS)} {self.number(depth - 1)})"
            ),
        )
        return pick.choice(forms)(lambda: self.truth(depth - 1))

    def rows(self, count: int) -> list[Row]:
        return [self._row(self._random.random()) for _ in range(count)]

    def _row(self, unknown: float) -> Row:
        pick = self._random

        def perhaps(value: float) -> float | None:
            return None if pick.random() < unknown else value

        year = pick.randint(1960, 2026)
        return {
            "lexical": pick.choice((0.0, 0.5, 1.0, pick.random())),
            "phrase": pick.choice((0.0, 0.25, 0.5, 1.5)),
            "citations": perhaps(float(pick.choice((0, 1, 7, pick.randint(0, 10**6))))),
            "year": perhaps(float(year)),
            "age_years": perhaps(float(2026 - year)),
            "source_count": float(pick.randint(1, 4)),
        }
