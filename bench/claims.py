"""How fast the embedded judge is: facts a second, each against the same twenty snippets.

The facts are the sentences of the snippets, which is what a job without a model verifies: each is found in one of them
and compared with its neighbours in others. Snippets are prepared once, as in a job. Processor time, best of three.

    python -m bench.claims [--quick]
"""

import time
from itertools import cycle, islice

from signal_search.contracts.document import Document

from bench import report
from infra.loopback_web.corpus import articles, pages, papers, stories
from scoring.claims.evidence import prepare
from scoring.claims.rules import VerifyRules
from scoring.claims.verdict import verify_prepared
from scoring.identity import document_id
from scoring.text import sentences

SNIPPETS = 20
FACTS = report.size(2000, 400)
ROUNDS = 3
BAR = ">= 1000"


def snippets() -> list[Document]:
    """Return the loopback web's English texts, end to end, cut into twenty pieces of one length."""
    texts = [
        *(each.text for each in articles("en")),
        *(each.text for each in pages("harbour")),
        *(each.text for each in stories()),
        *(each.abstract for each in papers() if each.language == "en"),
    ]
    whole = "\n".join(each.strip() for each in texts)
    size = len(whole) // SNIPPETS
    return [snippet(at, whole[at * size : (at + 1) * size]) for at in range(SNIPPETS)]


def snippet(number: int, text: str) -> Document:
    url, site = f"https://site{number}.example/", f"site{number}.example"
    return Document(
        doc_id=document_id(url, text), url=url, title=f"Text {number}", text=text, source_id="bench", site=site,
        fetched_at_ms=0,
    )  # fmt: skip


def seconds(facts: list[str], documents: list[Document]) -> float:
    began = time.process_time()
    ready = prepare(documents)
    rules = VerifyRules()
    for each in facts:
        verify_prepared(each, ready, own_doc_ids={documents[0].doc_id}, rules=rules)
    return time.process_time() - began


def main() -> None:
    read = snippets()
    own = [each.text for document in read for each in sentences(document.text)]
    report.require(len(own) >= 100, "too few sentences")
    facts = list(islice(cycle(own), FACTS))
    rate = len(facts) / min(seconds(facts, read) for _ in range(ROUNDS))
    made = report.row(
        f"claims verified a second, each against {SNIPPETS} snippets",
        round(rate),
        n=len(facts),
        bar=BAR,
    )
    figures = {
        "sentences": len(own),
        "characters_a_snippet": len(read[0].text),
        "facts_a_second": round(rate),
    }
    report.finish([made], figures)


if __name__ == "__main__":
    main()
