"""A report card of answers on documentation that nobody here wrote, every answer checked against the files themselves.

Fabricated citations, quotes that do not stand in their page, claims shown as supported that are not: each must be 0.
Beside them: answers that cite an expected page, answers that are empty, pages, calls, fetches and tokens used. The
corpora, the questions and the server are those of bench/site_corpus.py. One JSON document; a line a question on stderr.

    python -m bench.report_card [--corpus NAME] [--interval SECONDS] [--questions N] [--depth DEPTH]
"""

import argparse
import json
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from signal_search.client import Client
from signal_search.contracts.result import Result

from bench.answer_checks import fabricated_citations, false_quotes, totals, unsupported_claims
from bench.site_corpus import QUESTIONS, page_text, quotes_of, serve
from infra.settings import load
from infra.stack import Parts, Stack

Depth = Literal["quick", "standard", "deep"] | None


def row_of(
    result: Result, case: dict[str, Any], root: str, requested: frozenset[str]
) -> dict[str, Any]:
    @cache
    def page(url: str) -> str:
        try:
            return page_text(root, url)
        except OSError:
            return ""

    cited = [urlsplit(each.url).path.lstrip("/") for each in result.sources]
    claims = [claim for finding in result.findings for claim in finding.claims]
    return {
        "question": case["q"],
        "expected_page_cited": any(each in case["expect"] for each in cited),
        "empty": not result.findings,
        "exhausted": result.exhausted,
        "fabricated_citations": fabricated_citations(result, requested, page),
        "false_quotes": false_quotes(result, page),
        "unsupported_claims": unsupported_claims(result, page),
        "claims": len(claims),
        "claims_true": result.claims_true,
        "quotes": len(quotes_of(result)),
        "calls": result.usage.calls,
        "fetches": result.usage.fetches,
        "tokens": result.usage.tokens,
    }


def run_corpus(name: str, corpus: dict[str, Any], chosen: argparse.Namespace) -> dict[str, Any]:
    server = serve(corpus)
    port = server.server_address[1]
    rows = []
    with tempfile.TemporaryDirectory(prefix="ss-bench-") as folder:
        environment = {
            "SIGNAL_SEARCH_LOOPBACK__ALLOW": json.dumps([f"127.0.0.1:{port}"]),
            "SIGNAL_SEARCH_LOOPBACK__ONLY": "true",
            "SIGNAL_SEARCH_POLITENESS__LOOPBACK_INTERVAL_S": str(chosen.interval),
        }
        parts = Parts(workers={"crawl": 1, "reduce": 1})
        stack = Stack(load(data_dir=folder), parts, environment=environment)
        stack.start()
        try:
            with Client(redis_url=stack.redis_url) as client:
                for case in corpus["questions"][: chosen.questions]:
                    source = f"site:http://127.0.0.1:{port}/{corpus['start']}"
                    result = client.retrieve(case["q"], sources=[source], depth=chosen.depth)
                    seen = server.corpus_handler.seen  # type: ignore[attr-defined]
                    requested = frozenset(urlsplit(path).path for _at, path in seen)
                    rows.append(row_of(result, case, corpus["root"], requested))
                    tell(rows[-1], result)
        finally:
            stack.stop()
            server.shutdown()
    return {"corpus": name, **totals(rows), "rows": rows}


def tell(row: dict[str, Any], result: Result) -> None:
    mark = "hit " if row["expected_page_cited"] else "MISS"
    wrong = sum(
        len(row[name]) for name in ("fabricated_citations", "false_quotes", "unsupported_claims")
    )
    print(
        f"{mark} {row['fetches']:3} fetches {wrong} wrong  {result.stop.reason.value:16} {row['question']}",
        file=sys.stderr,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", action="append")
    parser.add_argument("--interval", type=float, default=0.05)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--depth", choices=["quick", "standard", "deep"])
    chosen = parser.parse_args()
    corpora = json.loads(QUESTIONS.read_text())
    names = chosen.corpus or list(corpora)
    present = [name for name in names if Path(corpora[name]["root"]).is_dir()]
    for name in sorted(set(names) - set(present)):
        print(f"skipped: {name} is not installed ({corpora[name]['root']})", file=sys.stderr)
    report = [run_corpus(name, corpora[name], chosen) for name in present]
    together = totals([row for each in report for row in each["rows"]])
    print(json.dumps({"all": together, "corpora": report}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
