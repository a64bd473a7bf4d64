"""A stack as its operator sees it: the page of figures, the logs of all processes, and a gateway that is told to end."""

import json
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from infra.stack import Parts
from tests.architecture.test_deploy_files import metric_names
from tests.chaos.stage import wait_until
from tests.e2e.conftest import LONG_LEASES, Running, start
from tests.fakes.ports import free_port

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

HOST = "harbour.test"
OTHER = "news.test"
THIRD = "gbk.test"
REQUEST_ID = "walk.through-all_4711"
OTHER_QUESTION = "When is the harbour bridge of Vogelsang closed to ships?"
QUESTION = "When is the harbour bridge of Vogelsang opened for ships?"
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    parts = Parts(
        workers={"crawl": 1, "reduce": 1}, gateway=True, port=free_port(), web_port=free_port()
    )
    settings = {
        **LONG_LEASES,
        "SIGNAL_SEARCH_LOG__FORMAT": "json",
        "SIGNAL_SEARCH_DEPLOYMENT__FETCHES": "1000",
    }
    running = start(tmp_path_factory.mktemp("operation"), parts, **settings)
    yield running
    running.stack.stop()


def fault(here: Running, *, host: str = HOST, **says: Any) -> None:
    url = f"http://127.0.0.1:{here.web_port}/__faults"
    httpx.post(url, json={"host": host, **says}, timeout=30).raise_for_status()


def heal(here: Running) -> None:
    httpx.delete(f"http://127.0.0.1:{here.web_port}/__faults", timeout=30).raise_for_status()


def question(host: str) -> dict[str, Any]:
    return {
        "query": QUESTION,
        "constraints": {"source_prefs": {"only": [f"site:http://{host}/"]}},
    }


def submit(here: Running, *, host: str = HOST, **headers: str) -> str:
    asked = question(host)
    answer = httpx.post(f"{here.gateway_url}/v1/retrieve", json=asked, headers=headers, timeout=30)
    assert answer.status_code == 202, answer.text
    assert answer.headers["x-request-id"] == headers.get(
        "x-request-id", answer.headers["x-request-id"]
    )
    job: str = answer.json()["id"]
    return job


def state(here: Running, job: str) -> str:
    found: str = httpx.get(f"{here.gateway_url}/v1/jobs/{job}", timeout=30).json()["state"]
    return found


def page(here: Running) -> Samples:
    text = httpx.get(f"{here.gateway_url}/metrics", timeout=30).raise_for_status().text
    return {
        (
            sample.name.removeprefix("signal_search_"),
            tuple(sorted(sample.labels.items())),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float | None:
    return found.get((name, tuple(sorted(labels.items()))))


def test_the_page_shows_a_job_while_it_runs_and_after_it(here: Running):
    """One site, answered slowly: while it is asked one request is in flight; what it cost is known afterwards."""
    before = page(here)
    fault(here, latency_s=4, count=2)
    job = submit(here)
    seen: list[Samples] = []

    def in_flight() -> bool:
        seen.append(page(here))
        return value(seen[-1], "fetches_in_flight") == 1

    wait_until(in_flight, "the request is in flight")
    during = seen[-1]
    assert value(during, "fetches_pending") >= 1  # type: ignore[operator]
    assert value(during, "workers", role="crawl") == 1
    assert value(during, "workers", role="all") == 0
    assert value(during, "queue_workers", queue="plan") == 1
    assert value(during, "job_places_taken") == value(before, "job_places_taken") + 1  # type: ignore[operator]
    assert value(during, "job_places") == 200
    assert value(during, "budget", dimension="fetches", part="limit") == 1000
    assert value(during, "budget", dimension="fetches", part="held") >= 1  # type: ignore[operator]
    assert value(during, "broker_up") == 1
    assert value(during, "store_up") == 1
    assert abs(value(during, "clock_skew_seconds") or 0.0) < 1  # one machine
    wait_until(lambda: state(here, job) in {"succeeded", "partial"}, "the job ends")
    usage = httpx.get(f"{here.gateway_url}/v1/jobs/{job}/result", timeout=30).json()["usage"]
    # What an ended job leaves is cleared, and what it spent is counted, after its end has been told.
    spent_before = value(before, "spent_total", dimension="fetches") or 0
    left = ("fetches_in_flight", "fetches_pending", "hosts_waiting", "hosts_due", "hosts_suspended")

    def is_cleared() -> bool:
        seen.append(page(here))
        spent = value(seen[-1], "spent_total", dimension="fetches") or 0
        return not any(value(seen[-1], name) for name in left) and spent > spent_before

    wait_until(is_cleared, "nothing is left")
    after = seen[-1]
    for name in left:
        assert value(after, name) == 0, name
    assert value(after, "budget", dimension="fetches", part="used") == usage["fetches"]
    assert value(after, "budget", dimension="fetches", part="held") == 0
    spent = value(after, "spent_total", dimension="fetches")
    assert spent == usage["fetches"] + spent_before


def test_no_series_names_what_there_may_be_any_number_of(here: Running):
    allowed = {
        "queue", "role", "task", "outcome", "state", "method", "route", "status", "le", "source",
        "dimension", "part", "disposition",
    }  # fmt: skip
    found = page(here)
    labels = {label for _name, pairs in found for label, _value in pairs}
    assert labels <= allowed
    job = re.compile(r"job_[0-9a-z]{26}")
    assert not any(HOST in text or job.search(text) for _n, pairs in found for _l, text in pairs)


def series(text: str) -> set[str]:
    """Return every series name that a page could show, of families without samples too."""
    parts = {
        "counter": ["_total"],
        "histogram": ["_bucket", "_sum", "_count"],
        "gauge": [""],
    }
    return {
        family.name + part
        for family in text_string_to_metric_families(text)
        for part in parts[family.type]
    }


def test_every_series_of_dashboard_alerts_and_scaling_is_really_there(here: Running):
    text = httpx.get(f"{here.gateway_url}/metrics", timeout=30).text
    assert metric_names() - series(text) == set()


def logs(here: Running) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of the gateway's and the workers' logs; each must be a JSON object."""
    found = {}
    for child in (each.child for each in here.stack.processes):
        if child.name != "web":
            found[child.name] = [json.loads(line) for line in child.log.read_text().splitlines()]
            assert all(isinstance(each, dict) for each in found[child.name])
    return found


def test_one_id_follows_a_job_through_all_processes(here: Running):
    # Nobody has asked this host before: a reply that is cached needs no fetcher.
    job = submit(here, host=THIRD, **{"x-request-id": REQUEST_ID})
    wait_until(lambda: state(here, job) in {"succeeded", "partial"}, "the job ends")

    def of_request() -> dict[str, list[dict[str, Any]]]:
        return {
            name: [each for each in lines if each.get("request_id") == REQUEST_ID]
            for name, lines in logs(here).items()
        }

    def events_of(name: str) -> set[str]:
        return {each["event"] for each in of_request()[name]}

    wait_until(lambda: "job ended" in events_of("worker-reduce1"), "the end is logged")
    wait_until(lambda: "fetch told" in events_of("worker-crawl1"), "the fetch is logged")
    found = of_request()
    assert {each["event"] for each in found["gateway"]} == {"job accepted"}
    assert {each["event"] for each in found["worker-reduce1"]} >= {"step tried", "job ended"}
    for name, lines in found.items():
        assert {each["job_id"] for each in lines} == {job}
        assert {each["process"] for each in lines} == {name.split("-")[0]}
    by_step = {each["step"] for each in found["worker-reduce1"] if "step" in each}
    assert {each.split("/")[1] for each in by_step} == {
        "plan",
        "crawl",
        "reduce",
    }  # its one call too
    assert {each["worker"].split("@")[0] for each in found["worker-crawl1"]} == {"crawl1"}


def test_a_request_id_that_is_none_is_replaced(here: Running):
    answer = httpx.get(f"{here.gateway_url}/healthz", headers={"x-request-id": 'a"b c'}, timeout=30)
    assert re.fullmatch(r"req_[0-9a-z]+", answer.headers["x-request-id"])


def test_the_logs_hold_neither_question_nor_address(here: Running):
    for child in (each.child for each in here.stack.processes):
        text = child.log.read_text()
        assert "Vogelsang" not in text
        if child.name != "web":
            assert "http://" + HOST not in text


def events(here: Running, job: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield (id, name) of a job's events until the stream ends; an end that is no proper one raises."""
    url = f"{here.gateway_url}/v1/jobs/{job}/events"
    with httpx.stream(
        "GET", url, headers={"last-event-id": after} if after else {}, timeout=60
    ) as answer:
        stream_id = ""
        for line in answer.iter_lines():
            if line.startswith("id: "):
                stream_id = line[4:]
            elif line.startswith("event: "):
                yield stream_id, line[7:]


def test_a_gateway_that_ends_lets_its_readers_go_and_they_go_on_elsewhere(here: Running):
    fault(here, host=OTHER, latency_s=4, count=3)  # nobody has asked it before: nothing is cached
    [gateway] = [each for each in here.stack.processes if each.child.name == "gateway"]
    process = gateway.child._process
    assert process is not None
    job = submit(here, host=OTHER)
    got: list[tuple[str, str]] = []
    waited: list[int] = []
    asked = {**question(OTHER), "query": OTHER_QUESTION}

    def read() -> None:
        got.extend(events(here, job, ""))

    def wait() -> None:
        url = f"{here.gateway_url}/v1/retrieve?wait=60"
        waited.append(httpx.post(url, json=asked, timeout=90).status_code)

    readers = [threading.Thread(target=each) for each in (read, wait)]
    for each in readers:
        each.start()
    wait_until(lambda: got or not readers[0].is_alive(), "the first events are there")
    wait_until(lambda: len(jobs_of(here, OTHER_QUESTION)) == 1, "the one that waits has its job")
    began = monotonic()
    process.send_signal(signal.SIGTERM)
    for each in readers:
        each.join(60)
    process.wait(60)
    print(f"gateway gone after {monotonic() - began:.2f} s")
    assert waited == [202]
    assert got
    assert got[-1][1] != "ended"
    wait_until(lambda: "gateway" in here.stack.watch(), "the gateway is started again")
    wait_until(lambda: httpx_answers(here), "it answers")
    heal(here)
    rest = list(events(here, job, got[-1][0]))
    assert rest[-1][1] == "ended"
    whole = list(events(here, job, ""))
    assert got + rest == whole


def jobs_of(here: Running, query: str) -> list[dict[str, Any]]:
    jobs = httpx.get(f"{here.gateway_url}/v1/jobs", timeout=30).json()["jobs"]
    return [each for each in jobs if each["query"] == query]


def httpx_answers(here: Running) -> bool:
    try:
        return httpx.get(f"{here.gateway_url}/healthz", timeout=30).status_code == 200
    except httpx.HTTPError:
        return False


def test_logs_are_whole_after_all_that(here: Running, tmp_path: Path):
    assert set(logs(here)) == {"gateway", "worker-crawl1", "worker-reduce1"}
