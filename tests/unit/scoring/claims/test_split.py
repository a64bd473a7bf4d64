"""Statements: parted only where both parts stand alone."""

import pytest

from scoring.claims.split import statements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Marie Curie was born in Warsaw, and won two Nobel Prizes.",
            ["Marie Curie was born in Warsaw", "Marie Curie won two Nobel Prizes."],
        ),
        (
            "The tower, which was built in 1889, is 330 m tall.",
            ["The tower is 330 m tall.", "The tower was built in 1889"],
        ),
        (
            "The group includes France, Germany and Italy.",
            ["The group includes France", "The group includes Germany", "The group includes Italy"],
        ),
        ("Sales rose in 2020; costs fell by half.", ["Sales rose in 2020", "costs fell by half."]),
        ("The plan is simple, but the cost is high.", ["The plan is simple", "the cost is high."]),
        # A pronoun needs its sentence; "between A, B and C" is one statement; a short part proves nothing.
        ("The plan is simple, but it is slow.", ["The plan is simple, but it is slow."]),
        (
            "Talks were held between France, Germany and Italy.",
            ["Talks were held between France, Germany and Italy."],
        ),
        ("It is red, and is big.", ["It is red, and is big."]),
        (
            "阿贝歇是乍得第四大城市，也是瓦达伊区的首府。",
            ["阿贝歇是乍得第四大城市", "阿贝歇是瓦达伊区的首府。"],
        ),
        ("他是演员，也是导演。", ["他是演员，也是导演。"]),
        ("研究显示，温度上升，冰川融化。", ["研究显示，温度上升，冰川融化。"]),
        ("TCP is reliable. UDP is reliable.", ["TCP is reliable.", "UDP is reliable."]),
    ],
)
def test_parts(text: str, expected: list[str]) -> None:
    assert [each.text for each in statements(text)] == expected


def test_a_part_keeps_its_bytes_and_its_sentence() -> None:
    text = "序。阿贝歇是城市，也是瓦达伊区的首府。"
    last = statements(text)[-1]
    assert text.encode()[last.start : last.end].decode() == "也是瓦达伊区的首府。"
    assert last.sentence.text == "阿贝歇是城市，也是瓦达伊区的首府。"
    assert last.sentence.start == len("序。".encode())


def test_listed_names_keep_their_bytes() -> None:
    text = "Été. The group includes France, Germany and Italy."
    assert [text.encode()[each.start : each.end].decode() for each in statements(text)[1:]] == [
        "France",
        "Germany",
        "Italy",
    ]
