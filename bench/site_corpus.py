"""Ask questions of real documentation that nobody here wrote, served on loopback with a robots.txt that forbids parts.

For every question: does the answer cite an expected page, does every quoted span stand in the page it cites (checked
against the file by another HTML reader), was a forbidden page asked for, and did two requests come closer than the
interval (the server's own log). Needs Debian's sqlite3-doc and debian-reference-zh-cn, or any folders named in
site_questions.json. Writes one JSON document; a line per question on stderr.

    python bench/site_corpus.py [--corpus NAME] [--interval SECONDS] [--questions N]
"""

import argparse
import json
import re
import sys
import tempfile
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import lxml.html
from signal_search.client import Client
from signal_search.contracts.result import Result
from typing_extensions import override

from infra.settings import load
from infra.stack import Parts, Stack

QUESTIONS = Path(__file__).with_name("site_questions.json")
BLANK = re.compile(r"\s+")


class Site(SimpleHTTPRequestHandler):
    """Files of a folder, a robots.txt, and a log of (time, path)."""

    seen: list[tuple[float, str]] = []
    forbidden: list[str] = []
    protocol_version = "HTTP/1.1"

    @override
    def do_GET(self) -> None:
        self.seen.append((time.monotonic(), self.path))
        if self.path != "/robots.txt":
            super().do_GET()
            return
        body = "".join(["User-agent: *\n", *(f"Disallow: {each}\n" for each in self.forbidden)])
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    @override
    def log_message(self, *_args: Any) -> None:
        """Say nothing; the log is `seen`."""


def serve(corpus: dict[str, Any]) -> ThreadingHTTPServer:
    handler = type("Corpus", (Site,), {"seen": [], "forbidden": corpus["forbidden"]})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=corpus["root"]))
    server.corpus_handler = handler  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def plain(text: str) -> str:
    return BLANK.sub("", text)


def page_text(root: str, url: str) -> str:
    path = Path(root, urlsplit(url).path.lstrip("/"))
    tree = lxml.html.fromstring(path.read_bytes())
    return plain(tree.text_content())


def quotes_of(result: Result) -> list[tuple[str, str]]:
    """Return (url, quote) of every span that the result shows."""
    spans = [
        span
        for f in result.findings
        for c in f.claims
        for span in (*c.supporting, *c.contradicting)
    ]
    spans += [span for c in result.conflicts for span in (c.stronger, c.weaker)]
    return [(span.url, span.quote) for span in spans]


def false_quotes(root: str, result: Result) -> list[str]:
    return [quote for url, quote in quotes_of(result) if plain(quote) not in page_text(root, url)]


def ask(client: Client, corpus: dict[str, Any], port: int, case: dict[str, Any]) -> dict[str, Any]:
    source = f"site:http://127.0.0.1:{port}/{corpus['start']}"
    started = time.monotonic()
    result = client.retrieve(case["q"], sources=[source])
    cited = [urlsplit(each.url).path.lstrip("/") for each in result.sources]
    row = {
        "question": case["q"],
        "hit": any(each in case["expect"] for each in cited),
        "cited": cited,
        "expected": case["expect"],
        "pages": sum(
            each.name == "fetch_finished" and each.data["state"] == "fetched"
            for each in result.trace
        ),
        "stop": result.stop.reason.value,
        "seconds": round(time.monotonic() - started, 1),
        "quotes": len(quotes_of(result)),
        "false_quotes": false_quotes(corpus["root"], result),
        "confidence": result.confidence,
        "faithfulness": result.faithfulness,
    }
    mark = "hit " if row["hit"] else "MISS"
    print(
        f"{mark} {row['pages']:3} pages {row['seconds']:5} s  {case['q']}  {cited}", file=sys.stderr
    )
    return row


def gaps_below(seen: list[tuple[float, str]], interval: float) -> int:
    times = sorted(at for at, _path in seen)
    return sum(later - earlier < interval for earlier, later in pairwise(times))


def run_corpus(name: str, corpus: dict[str, Any], interval: float, most: int) -> dict[str, Any]:
    server = serve(corpus)
    port = server.server_address[1]
    with tempfile.TemporaryDirectory(prefix="ss-bench-") as folder:
        loopback = {"allow": [f"127.0.0.1:{port}"], "only": True}
        settings = load(data_dir=folder)
        environment = {
            "SIGNAL_SEARCH_LOOPBACK__ALLOW": json.dumps(loopback["allow"]),
            "SIGNAL_SEARCH_LOOPBACK__ONLY": "true",
            "SIGNAL_SEARCH_POLITENESS__LOOPBACK_INTERVAL_S": str(interval),
        }
        stack = Stack(settings, Parts(workers={"crawl": 1, "reduce": 1}), environment=environment)
        stack.start()
        try:
            with Client(redis_url=stack.redis_url) as client:
                rows = [ask(client, corpus, port, case) for case in corpus["questions"][:most]]
        finally:
            stack.stop()
            server.shutdown()
    seen = server.corpus_handler.seen  # type: ignore[attr-defined]
    return {
        "corpus": name,
        "n": len(rows),
        "hits": sum(row["hit"] for row in rows),
        "pages_mean": round(sum(row["pages"] for row in rows) / len(rows), 1),
        "quotes": sum(row["quotes"] for row in rows),
        "false_quotes": sum(len(row["false_quotes"]) for row in rows),
        "requests": len(seen),
        "forbidden_requests": sum(
            path.startswith(tuple(corpus["forbidden"])) for _at, path in seen
        ),
        "gaps_below_interval": gaps_below(seen, interval),
        "interval_s": interval,
        "rows": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", action="append")
    parser.add_argument("--interval", type=float, default=0.05)
    parser.add_argument("--questions", type=int, default=1000)
    chosen = parser.parse_args()
    corpora = json.loads(QUESTIONS.read_text())
    names = chosen.corpus or list(corpora)
    missing = [name for name in names if not Path(corpora[name]["root"]).is_dir()]
    for name in missing:
        print(f"skipped: {name} is not installed ({corpora[name]['root']})", file=sys.stderr)
    report = [
        run_corpus(name, corpora[name], chosen.interval, chosen.questions)
        for name in names
        if name not in missing
    ]
    print(json.dumps(report, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
