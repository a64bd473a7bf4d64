"""How well a busy host is used: its time for n requests over the least possible, (n - 1) intervals.

At one second through the whole pipeline of a stack, the interval being the site's own Crawl-delay; at 50 ms for some
busy hosts among 500 of which the others are asked once a second, by two crawlers with the raw client. (The benches of
the frontier print the figure for 500 hosts that are all busy: then the machine decides, not the queue.)

    python -m bench.busy_host [--quick]
"""

from typing import Any

from bench import report
from bench.arithmetic import Seen, host_use, middle, violations
from bench.place import BUSY, HOSTS, INTERVAL_S, crawlers, raw_server, store
from bench.raw_client import host_name
from bench.requests import offer_all, offers
from bench.stacks import shared_stack
from infra.redis import connect

SLOW_PAGES = report.size(21, 8)
FAST_HOSTS = 10
FAST_PAGES = report.size(101, 61)
BACKGROUND_PAGES = report.size(5, 3)


def is_page(seen: Seen) -> bool:
    return seen.path != "/robots.txt"


def at_one_second() -> dict[str, Any]:
    """Crawl one host whose robots.txt asks for a second."""
    with shared_stack() as at:
        paths = [f"/busy/{number}" for number in range(SLOW_PAGES)]
        offer_all(at.redis, offers(BUSY, paths))
        seen = at.server.wait_for(SLOW_PAGES, within_s=SLOW_PAGES * 3, of=is_page)
    pages = [each for each in seen if is_page(each)]
    [use] = host_use(pages, 1.0)
    return {"n": len(pages), "use": round(use, 4), "violations": violations(pages, 1.0)}


def among_others() -> dict[str, Any]:
    """Crawl ten busy hosts among 490 slow ones."""
    busy = [f"/busy/{number}" for number in range(FAST_PAGES)]
    slow = [f"/slow/{number}" for number in range(BACKGROUND_PAGES)]
    offered = [each for at in range(FAST_HOSTS) for each in offers(host_name(at), busy)]
    for number in range(FAST_HOSTS, HOSTS):
        offered += offers(host_name(number), slow, pause_s=1.0)
    with raw_server() as server, store() as url, crawlers("raw", 2, url, server) as go:
        redis = connect(url)
        offer_all(redis, offered)
        go()
        seen = server.wait_for(len(offered))
        redis.close()
    pages = [each for each in seen if each.path.startswith("/busy")]
    return {
        "n": len(pages),
        "requests_in_all": len(seen),
        "use_median": round(middle(host_use(pages, INTERVAL_S)), 4),
        "violations": violations(pages, INTERVAL_S),
    }


def main() -> None:
    others = among_others()
    report.tell("50 ms among 500 hosts", others)
    slow = at_one_second()
    report.tell("one second", slow)
    name = "busy host: time over least"
    rows = [
        report.row(f"{name}, 1 s, whole pipeline", slow["use"], n=slow["n"], bar="<= 1.03"),
        report.row(
            f"{name}, 50 ms, 10 busy of 500 hosts",
            others["use_median"],
            n=others["n"],
            bar="<= 1.1",
        ),
        report.row(
            "violations at busy hosts",
            slow["violations"] + others["violations"],
            n=slow["n"] + others["n"],
            bar="<= 0",
        ),
    ]
    report.finish(rows, {"one_second": slow, "among_500": others})


if __name__ == "__main__":
    main()
