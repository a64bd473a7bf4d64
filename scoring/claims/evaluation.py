"""How right the verdicts are on labelled rows: both directions, per language and set, with a control.

A row is {id, lang, claim, evidence, label, orig, group, set}: the evidence is the only source. The control gives each
claim the evidence of another group: whoever answers TRUE there has not read it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Verdict

from scoring.claims.rules import VerifyRules
from scoring.claims.verdict import verify_all
from scoring.identity import document_id
from scoring.text import sentences

Row = Mapping[str, str]
Report = dict[str, object]


def answer(claim: str, evidence: str, rules: VerifyRules) -> Verdict:
    """Return the verdict on a claim of one or more sentences: TRUE if all are, FALSE if any is."""
    url = "https://evidence.example/"
    document = Document(
        doc_id=document_id(url, evidence),
        url=url,
        title="",
        text=evidence,
        source_id="evaluation",
        site="evidence.example",
        fetched_at_ms=0,
    )
    texts = [each.text for each in sentences(claim)] or [claim]
    verdicts = {
        each.verdict
        for each in verify_all(texts, [document], own_doc_ids={document.doc_id}, rules=rules)
    }
    if Verdict.FALSE in verdicts:
        return Verdict.FALSE
    return Verdict.TRUE if verdicts == {Verdict.TRUE} else Verdict.UNCERTAIN


def evaluate(rows: Sequence[Row], rules: VerifyRules | None = None) -> dict[str, Report]:
    """Return the metrics per `set/language`, per `set/language/orig`, and of the control per `set/language`.

    Shares are None when nothing was asked. `false_true` counts TRUE given a row that is not TRUE, `lost_true` the
    opposite direction.
    """
    used = rules or VerifyRules()
    groups: dict[str, list[tuple[str, Verdict]]] = {}
    for row in rows:
        verdict = answer(row["claim"], row["evidence"], used)
        name = f"{row.get('set', 'rows')}/{row['lang']}"
        for key in (name, f"{name}/{row.get('orig', '')}"):
            groups.setdefault(key, []).append((row["label"], verdict))
    found: dict[str, Report] = {name: metrics(pairs) for name, pairs in sorted(groups.items())}
    return found | _control(rows, used)


def metrics(pairs: Iterable[tuple[str, Verdict]]) -> Report:
    """Return counts and shares of (label, verdict) pairs."""
    table = Counter((label, str(verdict)) for label, verdict in pairs)
    labels = {
        label: sum(n for (each, _), n in table.items() if each == label) for label, _ in table
    }
    said = {
        verdict: sum(n for (_, each), n in table.items() if each == verdict) for verdict in Verdict
    }
    true, not_true = labels.get("TRUE", 0), sum(labels.values()) - labels.get("TRUE", 0)
    right = table["TRUE", "TRUE"]
    return {
        "n": sum(labels.values()),
        "labels": dict(sorted(labels.items())),
        "said": {str(verdict): said[verdict] for verdict in Verdict},
        "precision_true": _share(right, said[Verdict.TRUE]),
        "coverage_true": _share(right, true),
        "lost_true": _share(true - right, true),
        "false_true": _share(said[Verdict.TRUE] - right, not_true),
        "true_given_false": _share(table["FALSE", "TRUE"], labels.get("FALSE", 0)),
        "precision_false": _share(table["FALSE", "FALSE"], said[Verdict.FALSE]),
        "coverage_false": _share(table["FALSE", "FALSE"], labels.get("FALSE", 0)),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _control(rows: Sequence[Row], rules: VerifyRules) -> dict[str, Report]:
    sets: dict[str, list[Row]] = {}
    for row in rows:
        sets.setdefault(f"{row.get('set', 'rows')}/{row['lang']}", []).append(row)
    return {
        f"{name}/someone_elses_evidence": _with_other_evidence(members, rules)
        for name, members in sorted(sets.items())
    }


def _with_other_evidence(members: Sequence[Row], rules: VerifyRules) -> Report:
    """Give each claim the evidence of the next row of another group, from half the set further on."""
    tally: Counter[bool] = Counter()
    for place, row in enumerate(members):
        start = place + len(members) // 2
        others = (members[(start + step) % len(members)] for step in range(len(members)))
        other = next((each for each in others if each.get("group") != row.get("group")), None)
        if other is not None:
            tally[answer(row["claim"], other["evidence"], rules) is Verdict.TRUE] += 1
    return {"n": tally.total(), "said_true": tally[True]}
