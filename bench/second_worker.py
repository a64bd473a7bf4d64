"""What a second crawl worker adds to a crawl bound by the network: pages take 0.2 s, a worker fetches 8 at a time.

The product's whole exchange, robots.txt and parsing included, once with one crawler and once with two, at other hosts.

    python -m bench.second_worker [--quick]
"""

from bench import report
from bench.arithmetic import Seen, per_second, violations
from bench.place import HOSTS, INTERVAL_S, crawlers, raw_server, store
from bench.raw_client import host_name
from bench.requests import offer_all, offers
from infra.redis import connect

DELAY_MS = 200
CONCURRENCY = "8"
REQUESTS = report.size(320, 160)


def crawl(count: int) -> list[Seen]:
    """Crawl one page and robots.txt of some hosts with `count` crawlers."""
    hosts = [host_name(number) for number in range(REQUESTS // 2)]
    report.require(len(hosts) <= HOSTS, "more hosts than there are")
    limit = {"SIGNAL_SEARCH_FETCH__CONCURRENCY": CONCURRENCY}
    with raw_server() as server, store() as url:
        server.delay(DELAY_MS)
        with crawlers("whole", count, url, server, **limit) as go:
            redis = connect(url)
            offer_all(redis, [each for host in hosts for each in offers(host, ["/page"])])
            go()
            seen = server.wait_for(REQUESTS)
            redis.close()
    return seen


def main() -> None:
    one, two = crawl(1), crawl(2)
    speeds = [per_second(each, DELAY_MS / 1000) for each in (one, two)]
    figures = {
        "n": len(one) + len(two),
        "one_per_second": round(speeds[0], 1),
        "two_per_second": round(speeds[1], 1),
        "most_per_worker": int(CONCURRENCY) * 1000 // DELAY_MS,
        "violations": violations(one, INTERVAL_S) + violations(two, INTERVAL_S),
    }
    report.tell("second worker", figures)
    rows = [
        report.row(
            "fetches/s of two crawl workers, I/O-bound, against one",
            figures["two_per_second"],
            n=len(one) + len(two),
            peer=figures["one_per_second"],
            ratio=speeds[1] / speeds[0],
            bar=">= 1.8",
        )
    ]
    report.finish(rows, figures)


if __name__ == "__main__":
    main()
