import io
import json
import logging
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from infra.logging import bound, configure, mask_text


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def written(form: str = "json", level: str = "INFO") -> io.StringIO:
    out = io.StringIO()
    settings: Any = SimpleNamespace(level=level, format=form)
    configure(settings, out)
    return out


def events(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_an_event_is_one_line_with_its_job_and_request() -> None:
    out = written()
    with bound(job_id="job_1", request_id="req_2"):
        structlog.get_logger("workers.tasks").info("claimed", attempt=3)
    structlog.get_logger("workers.tasks").info("after")
    first, second = events(out)
    assert first["event"] == "claimed"
    assert (first["job_id"], first["request_id"], first["attempt"]) == ("job_1", "req_2", 3)
    assert (first["level"], first["logger"]) == ("info", "workers.tasks")
    assert first["timestamp"].endswith("Z")
    assert "job_id" not in second


def test_the_libraries_write_the_same_way() -> None:
    out = written()
    with bound(job_id="job_1"):
        logging.getLogger("celery.worker").warning("lost %s", "connection")
    (event,) = events(out)
    assert (event["event"], event["logger"], event["job_id"]) == (
        "lost connection",
        "celery.worker",
        "job_1",
    )


@pytest.mark.parametrize(
    "secret",
    [
        {"authorization": "Bearer abcdefghijkl"},
        {"token": "opensesame"},
        {"api_key": "opensesame"},
        {"headers": {"X-Api-Key": "opensesame", "Cookie": "opensesame"}},
        {"tried": ["sst_opensesame12", "redis://u:opensesame@h:6379/0"]},
        {"url": "https://api.example/x?api_key=opensesame&q=1"},
        {"flower_password": "opensesame"},
    ],
)
def test_no_secret_is_written(secret: dict[str, Any]) -> None:
    for form in ("json", "text"):
        out = written(form)
        structlog.get_logger("x").warning("sent", **secret)
        assert "sent" in out.getvalue()
        assert "opensesame" not in out.getvalue()
        assert "abcdefghijkl" not in out.getvalue()


def test_no_secret_is_written_by_a_library_or_in_a_traceback() -> None:
    out = written()
    logging.getLogger("kombu").warning("cannot reach %s", "amqp://u:opensesame@h//")
    try:
        int("Bearer opensesame1234")
    except ValueError:
        structlog.get_logger("x").exception("broke")
    assert "opensesame" not in out.getvalue()
    assert "ValueError" in out.getvalue()
    assert len(events(out)) == 2


def test_counts_of_tokens_are_not_secrets() -> None:
    out = written()
    structlog.get_logger("x").info("settled", tokens=2000, tokens_left=0, token=None)
    (event,) = events(out)
    assert (event["tokens"], event["tokens_left"], event["token"]) == (2000, 0, None)


def test_the_level_holds_for_all() -> None:
    out = written(level="WARNING")
    structlog.get_logger("x").info("quiet")
    logging.getLogger("y").info("quiet")
    structlog.get_logger("x").warning("loud")
    assert [event["event"] for event in events(out)] == ["loud"]


def test_libraries_that_talk_per_request_are_heard_only_when_they_warn() -> None:
    out = written()
    logging.getLogger("httpx").info("GET ...")
    logging.getLogger("httpx").warning("odd")
    assert [event["event"] for event in events(out)] == ["odd"]


def test_setting_up_twice_writes_once() -> None:
    written()
    out = written()
    structlog.get_logger("x").info("once")
    assert len(events(out)) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer ***"),
        ("redis://:pw@host:6379/0", "redis://***@host:6379/0"),
        ("https://host/a@b", "https://host/a@b"),
        ("https://h/?q=1&token=abc&x=2", "https://h/?q=1&token=***&x=2"),
        ("a bearer of news", "a bearer of news"),
        ("plain", "plain"),
    ],
)
def test_what_is_masked_in_texts(text: str, expected: str) -> None:
    assert mask_text(text) == expected


def test_a_line_of_text_is_what_the_library_would_write() -> None:
    out = written("text")
    with bound(job_id="job_1", request_id="req_2"):
        logging.getLogger("api_gateway.x").info("job accepted")
        structlog.get_logger("workers.y").warning("odd one", attempt=3, what="two words", left=None)
    theirs = structlog.dev.ConsoleRenderer(colors=False)
    for line, event in zip(
        out.getvalue().splitlines(),
        (
            {"logger": "api_gateway.x", "level": "info", "event": "job accepted"},
            {
                "logger": "workers.y",
                "level": "warning",
                "event": "odd one",
                "attempt": 3,
                "what": "two words",
                "left": None,
            },
        ),
        strict=True,
    ):
        names = {"job_id": "job_1", "request_id": "req_2", "pid": os.getpid()}
        whole = {**event, **names, "timestamp": line.split(" ")[0]}
        assert line == theirs(None, "", whole)


def test_a_traceback_stands_below_its_line_in_both_forms() -> None:
    for form in ("json", "text"):
        out = written(form)
        try:
            int("Bearer opensesame1234")
        except ValueError:
            logging.getLogger("x").exception("broke")
        assert "broke" in out.getvalue().splitlines()[0]
        assert "ValueError: invalid literal" in out.getvalue()
        assert "opensesame" not in out.getvalue()


def test_what_was_bound_before_is_bound_again() -> None:
    out = written()
    with bound(job_id="outer", request_id="req_1"):
        with bound(job_id="inner", step=""):
            logging.getLogger("x").info("within")
        logging.getLogger("x").info("behind")
    within, behind = events(out)
    assert (within["job_id"], within["request_id"]) == ("inner", "req_1")
    assert (behind["job_id"], behind["request_id"]) == ("outer", "req_1")
    assert "step" not in within
