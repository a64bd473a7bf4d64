"""Which bells a worker keeps for itself, and which it sends: in order, once, none lost."""

from threading import Thread

import pytest

from workers.next_step import Bell, NextStep


@pytest.fixture
def sent() -> list[Bell]:
    return []


def bells(sent: list[Bell], *, keeps: bool = True, is_taken: bool = True) -> NextStep:
    def send(task: str, step_id: str) -> bool:
        sent.append((task, step_id))
        return is_taken

    return NextStep(send, keeps=keeps)


def test_outside_of_a_step_every_bell_is_sent(sent: list[Bell]):
    assert bells(sent).ring("plan", "a/plan")
    assert sent == [("plan", "a/plan")]


def test_the_only_bell_of_a_step_is_kept(sent: list[Bell]):
    own = bells(sent)
    with own.kept() as kept:
        assert own.ring("crawl", "a/crawl/1")
        assert own.ring("crawl", "a/crawl/1")
    assert (kept, sent) == ([("crawl", "a/crawl/1")], [])


def test_bells_that_can_be_shared_are_sent_in_order(sent: list[Bell]):
    own = bells(sent)
    with own.kept() as kept:
        for number in range(3):
            assert own.ring("crawl", f"a/crawl/{number}")
    assert kept == []
    assert sent == [("crawl", f"a/crawl/{number}") for number in range(3)]


def test_the_next_step_keeps_its_own(sent: list[Bell]):
    own = bells(sent)
    with own.kept() as first:
        own.ring("crawl", "a/crawl/1")
    with own.kept() as second:
        own.ring("reduce", "a/reduce")
    own.ring("plan", "b/plan")
    assert (first, second) == ([("crawl", "a/crawl/1")], [("reduce", "a/reduce")])
    assert sent == [("plan", "b/plan")]


def test_a_step_that_breaks_has_its_bell_sent(sent: list[Bell]):
    own = bells(sent)

    def leave() -> None:
        with own.kept():
            own.ring("reduce", "a/reduce")
            raise SystemExit

    with pytest.raises(SystemExit):
        leave()
    assert sent == [("reduce", "a/reduce")]
    own.ring("plan", "b/plan")
    assert sent[1:] == [("plan", "b/plan")]


def test_a_worker_that_only_crawls_sends_all(sent: list[Bell]):
    own = bells(sent, keeps=False)
    with own.kept() as kept:
        own.ring("reduce", "a/reduce")
    assert (kept, sent) == ([], [("reduce", "a/reduce")])


def test_what_the_broker_does_not_take_is_said(sent: list[Bell]):
    own = bells(sent, is_taken=False)
    assert not own.ring("plan", "a/plan")
    with own.kept():
        assert own.ring("crawl", "a/crawl/1")
        assert not own.ring("crawl", "a/crawl/2")
    assert len(sent) == 3


def test_another_thread_does_not_keep_what_this_one_works_on(sent: list[Bell]):
    own = bells(sent)
    with own.kept() as kept:
        other = Thread(target=own.ring, args=("reduce", "b/reduce"))
        other.start()
        other.join()
    assert (kept, sent) == ([], [("reduce", "b/reduce")])
