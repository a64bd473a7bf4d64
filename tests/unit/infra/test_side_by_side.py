"""How `make test` shares files out among processes: whole, from both ends, each test once."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from tests.fakes.ports import free_ports
from tests.side_by_side import FromBothEnds

FILES = {"a.py": 3, "b.py": 40, "c.py": 5, "d.py": 4, "e.py": 6}
TESTS = [f"{name}::test_{number}" for name, count in FILES.items() for number in range(count)]


class Process:
    """What the scheduler sees of a process: its name, what it was given, and that it was told to end."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.given: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        self.given.extend(indices)

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(TESTS[each].split("::")[0] for each in self.given))


def shared_out(names: Sequence[str]) -> list[Process]:
    """Let processes that are equally quick run everything; return them."""
    processes = [Process(each) for each in names]
    config: Any = SimpleNamespace(
        option=SimpleNamespace(loadscopereorder=True), getvalue=lambda _name: ["popen"] * len(names)
    )
    plan: Any = FromBothEnds(config)
    for each in processes:
        plan.add_node(each)
        plan.add_node_collection(each, TESTS)
    plan.schedule()
    done = dict.fromkeys(names, 0)
    while any(len(each.given) > done[each.gateway.id] for each in processes):
        for each in processes:
            if len(each.given) > done[each.gateway.id]:
                plan.mark_test_complete(each, each.given[done[each.gateway.id]])
                done[each.gateway.id] += 1
    assert plan.tests_finished
    return processes


def test_one_process_begins_at_each_end_and_no_file_is_parted() -> None:
    front, back = shared_out(["one", "two"])
    assert front.files == ["a.py", "b.py"]
    assert back.files == ["e.py", "d.py", "c.py"]
    assert sorted(front.given + back.given) == list(range(len(TESTS)))


def test_the_tests_of_a_file_stay_in_order() -> None:
    for each in shared_out(["one", "two"]):
        assert [TESTS[at] for at in each.given] == [
            name for file in each.files for name in TESTS if name.startswith(file)
        ]


def test_one_process_alone_takes_them_as_they_were_named() -> None:
    [only] = shared_out(["one"])
    assert only.files == list(FILES)


def test_all_but_one_of_several_begin_at_the_cheap_end() -> None:
    first, second, last = shared_out(["one", "two", "three"])
    assert (first.files[0], second.files[0], last.files[0]) == ("a.py", "b.py", "e.py")
    assert sorted(first.given + second.given + last.given) == list(range(len(TESTS)))


def test_a_port_is_given_once_and_is_none_that_the_system_gives_away() -> None:
    ports = free_ports(50)
    assert len(set(ports)) == 50
    assert all(1024 < port < 32_768 for port in ports)
