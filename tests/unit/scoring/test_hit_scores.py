"""The parts of a hit's score and the order they make, worked out by hand from the search guide's tables."""

from datetime import date, timedelta

import pytest
from signal_search.contracts.hit import HitWeights, MergedHit

from scoring.date_range import date_range, lies_within
from scoring.hit_freshness import by_freshness, freshness_score
from scoring.hit_keyword import keyword_match
from scoring.hit_rank import HitQuestion, in_source_order, rank_hits, score_hit
from scoring.site_authority import boosted, site_authority
from scoring.stated_dates import stated_date

TODAY = date(2026, 5, 28)


def hit(url: str = "https://a.example/", **more: object) -> MergedHit:
    return MergedHit(key=url, url=url, **more)  # type: ignore[arg-type]


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "title", "snippet", "share"),
    [
        ("rust async runtime", "Async Rust", "", 2 / 3),
        ("rust async runtime", "Async Rust", "A runtime, explained.", 1.0),
        ("java", "JavaScript guide", "", 0.0),  # a word, not a part of one
        ("the guides of rust", "A Rust guide", "", 1.0),
        ("Ａsync　Rust", "async rust", "", 1.0),  # full width
        ("量子计算", "量子计算的进展", "", 1.0),
        ("量子计算", "经典计算", "", 1 / 3),  # of 量子, 计算 and 子计
        ("a of the", "anything", "", 0.5),
        ("", "anything", "", 0.5),
    ],
)
def test_the_share_of_the_querys_words(query: str, title: str, snippet: str, share: float) -> None:
    assert keyword_match((query,), title, snippet) == pytest.approx(share)


def test_the_form_that_matches_best_counts() -> None:
    forms = ("Rust 异步编程", "Rust async programming")
    assert keyword_match(forms, "Async programming in Rust", "") == 1.0
    assert keyword_match(forms[:1], "Async programming in Rust", "") == pytest.approx(1 / 4)


# --- age --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("days", "score"),
    [
        (0, 1.0),
        (1, 1.0),
        (2, 0.9),
        (7, 0.9),
        (8, 0.7),
        (30, 0.7),
        (31, 0.5),
        (90, 0.5),
        (91, 0.3),
        (365, 0.3),
        (366, 0.1),
        (9999, 0.1),
        (-1, 1.0),  # a time zone ahead
        (-2, 1.0),
        (-3, 0.5),  # a mistake of the page
        (-400, 0.5),
    ],
)
def test_bands_of_age(days: int, score: float) -> None:
    published = (TODAY - timedelta(days=days)).isoformat()
    assert freshness_score(published, "", TODAY)[0] == score


@pytest.mark.parametrize(
    ("published", "snippet", "score"),
    [
        ("2026", "", 0.9),
        ("2025", "", 0.6),
        ("2023", "", 0.4),
        ("2022", "", 0.2),
        ("2027", "", 0.5),
        ("2026-05", "", 0.7),  # from the fifteenth: thirteen days
        ("2026-04", "", 0.5),
        ("2026-06", "", 0.5),
        ("", "in 2026", 0.9),
        ("", "of 2025 and 2026", 0.6),  # the first one named
        ("", "since 2023", 0.4),
        ("", "in 2022", 0.2),
        ("", "by 2029", 0.5),
        ("", "in 2019", 0.5),  # outside what is looked for
        ("", "for $2,025.30 or 12025 times, v1.2024", 0.5),
        ("", "", 0.5),
    ],
)
def test_years_and_months_and_years_in_the_text(published: str, snippet: str, score: float) -> None:
    assert freshness_score(published, snippet, TODAY)[0] == score


@pytest.mark.parametrize(
    ("stated", "iso"),
    [
        ("2026-01-02T03:04:05.000Z", "2026-01-02"),
        ("2026-01-02T03:04:05.123456+08:00", "2026-01-02"),
        ("2026-01-02 03:04:05", "2026-01-02"),
        ("2026-01-02", "2026-01-02"),
        ("2026-1-2", "2026-01-02"),
        ("2026/01/02", "2026-01-02"),
        ("2026.01.02", "2026-01-02"),
        ("2026-01", "2026-01"),
        ("2026", "2026"),
        ("20260102", "2026-01-02"),
        ("20260102T030405Z", "2026-01-02"),
        ("20260102030405", "2026-01-02"),
        ("Fri, 02 Jan 2026 00:00:00 GMT", "2026-01-02"),
        ("Wed, 02 Jan 2026 00:00:00 GMT", "2026-01-02"),  # the wrong weekday
        ("02 Jan 2026 00:00:00 +0800", "2026-01-02"),
        ("January 2, 2026", "2026-01-02"),
        ("Jan. 2nd, 2026", "2026-01-02"),
        ("2 January 2026", "2026-01-02"),
        ("Jan 2026", "2026-01"),
        ("2026年1月2日", "2026-01-02"),
        ("2026 年 1 月", "2026-01"),
        ("1767312000", "2026-01-02"),
        ("1767312000000", "2026-01-02"),
        ("  2026-01-02\n", "2026-01-02"),
        ("2026-02-30", "2026-02"),
        ("2026-13-01", "2026"),
        ("3 days ago", ""),
        ("3 天前", ""),
        ("yesterday", ""),
        ("12", ""),
        ("0000-00-00", ""),
        ("9999-01-01", ""),
        ("2026-01-02x", ""),
        ("2026 pages", ""),
        ("99999999999999999999", ""),
        ("", ""),
    ],
)
def test_every_form_of_date(stated: str, iso: str) -> None:
    assert stated_date(stated) == iso


def test_hits_by_age_with_the_undated_apart() -> None:
    hits = [
        hit("https://a.example/new", published="2026-05-25"),
        hit("https://a.example/old", published="2026-05-01"),
        hit("https://a.example/undated"),
        hit("https://a.example/month", published="2026-05"),
        hit("https://a.example/edge", published="2026-05-21"),
    ]
    found = by_freshness(hits, "pw", TODAY)
    assert [each.url.rpartition("/")[2] for each in found.within] == ["new", "month", "edge"]
    assert [each.url.rpartition("/")[2] for each in found.undated] == ["undated"]
    assert found.outside == 1
    assert by_freshness(hits, "always", TODAY).within == tuple(hits)


@pytest.mark.parametrize(
    ("freshness", "days"),
    [
        ("pd", ("2026-05-27", "2026-05-29")),
        ("pw", ("2026-05-21", "2026-05-29")),
        ("pm", ("2026-04-27", "2026-05-29")),
        ("py", ("2025-05-27", "2026-05-29")),
        ("2026-01-01..2026-01-31", ("2026-01-01", "2026-01-31")),
        ("", None),
        ("px", None),
        ("2026-01-01", None),
    ],
)
def test_ranges_of_days(freshness: str, days: tuple[str, str] | None) -> None:
    assert date_range(freshness, TODAY) == days


def test_a_relative_age_needs_a_day() -> None:
    assert date_range("pw", None) is None
    assert date_range("2026-01-01..2026-01-31", None) == ("2026-01-01", "2026-01-31")


def test_a_year_lies_in_a_range_when_a_day_of_it_does() -> None:
    wanted = ("2025-12-30", "2026-01-02")
    assert [lies_within(each, wanted) for each in ("2025", "2026-01", "2025-11", "2027")] == [
        True,
        True,
        False,
        False,
    ]


# --- standing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "score"),
    [
        ("https://github.com/a/b", 1.0),
        ("http://GIST.github.com:443/x", 1.0),
        ("https://notgithub.com/", 0.4),
        ("https://github.com.evil.example/", 0.4),
        ("https://cloud.google.com/x", 1.0),  # in two steps: the higher one
        ("https://aws.amazon.com/x", 0.8),
        ("https://www.amazon.com/x", 0.4),
        ("https://docs.example.org/x", 0.9),
        ("https://someone.github.io/x", 0.7),
        ("https://docs.someone.github.io/", 0.9),
        ("https://blog.example.org/", 0.6),
        ("https://blog.cloudflare.com/", 0.8),
        ("https://cs.stanford.edu/", 0.8),
        ("https://www.tsinghua.edu.cn/", 0.8),
        ("https://www.nist.gov/", 0.8),
        ("https://www.stats.gov.cn/", 0.8),
        ("https://edu.example/", 0.4),
        ("https://medium.com/@x", 0.6),
        ("https://example.com/?u=github.com", 0.4),
        ("ftp://github.com/", 0.4),
        ("github.com", 0.4),
        ("https://[::1", 0.4),
        ("", 0.4),
    ],
)
def test_standing_of_a_site(url: str, score: float) -> None:
    assert site_authority(url)[0] == score


@pytest.mark.parametrize(
    ("url", "sites", "score"),
    [
        ("https://dev.to/x", ["dev.to", "DEV.to", "www.dev.to"], 1.0),
        ("https://a.b.example.com/", ["example.com"], 0.6),
        ("https://example.com/", ["b.example.com"], 0.4),
        ("https://notexample.com/", ["example.com"], 0.4),
        ("https://github.com/", ["github.com"], 1.0),
        ("https://example.com/", [""], 0.4),
        ("", [""], 0.4),
    ],
)
def test_a_preferred_site_gains_once_and_not_beyond_one(
    url: str, sites: list[str], score: float
) -> None:
    assert boosted(site_authority(url)[0], url, sites, 0.2) == pytest.approx(score)


# --- the whole --------------------------------------------------------------------------------------------------------

STATUS = HitQuestion(
    variants=("deno release",),
    weights=HitWeights(keyword=0.3, freshness=0.5, authority=0.2),
    today=TODAY,
)


def test_the_weighted_sum_and_its_reasons() -> None:
    found = score_hit(
        hit("https://medium.com/x", title="Deno", published="2026-05-25"),
        HitQuestion(
            variants=STATUS.variants, weights=STATUS.weights, today=TODAY, boost=("medium.com",)
        ),
    )
    # By hand: .3 of a half, .5 of .9, and .2 of .8, which is .6 and the boost.
    assert (found.score, found.keyword, found.freshness, found.authority) == (0.76, 0.5, 0.9, 0.8)
    assert found.reasons == {
        "keyword": "50% of the query's words",
        "freshness": "published 2026-05-25",
        "authority": "medium.com is listed + preferred by the caller",
    }


def test_best_first_and_equal_ones_in_the_order_given() -> None:
    hits = [
        hit("https://a.example/2", title="nothing"),
        hit("https://a.example/1", title="nothing"),
        hit("https://github.com/deno", title="Deno release", published="2026-05-28"),
    ]
    assert [each.hit.url[-1] for each in rank_hits(hits, STATUS)] == ["o", "2", "1"]
    plain = in_source_order(hits)
    assert [each.hit for each in plain] == hits
    assert {each.score for each in plain} == {None}


def test_scores_have_four_decimals() -> None:
    question = HitQuestion(
        variants=("apple pear plum",),
        weights=HitWeights(keyword=1.0, freshness=0.0, authority=0.0),
        today=TODAY,
    )
    found = score_hit(hit(title="A plum"), question)
    assert found.score == 0.3333
