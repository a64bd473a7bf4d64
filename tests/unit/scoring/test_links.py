"""Which link to follow: the words of the question, weighed by how rare they are among the links."""

from signal_search.contracts.source import Link

from scoring.links import address_words, hub_prior, rate_links


def link(name: str, text: str = "", context: str = "") -> Link:
    return Link(url=f"https://example.org/{name}", text=text, context=context)


def test_words_of_an_address() -> None:
    assert address_words("https://e.org/docs/write-ahead_log.html?x=FullText") == [
        "docs", "write", "ahead", "log", "html", "x", "Full", "Text",
    ]  # fmt: skip


def test_the_link_that_carries_the_rare_word_wins() -> None:
    links = [link("a", "Product guide"), link("b", "Product limits"), link("c", "Product news")]
    ratings = rate_links((("product", "limit"),), links)
    assert ratings[1] == max(ratings)
    assert ratings[0] == ratings[2] < ratings[1]


def test_the_order_of_links_does_not_matter() -> None:
    links = [link("a", "Write-ahead log"), link("b", "Backup"), link("c", "Limits")]
    variants = (("writ", "ahead", "log"),)
    forward = dict(zip("abc", rate_links(variants, links), strict=True))
    backward = dict(zip("cba", rate_links(variants, links[::-1]), strict=True))
    assert forward == backward


def test_the_better_language_counts() -> None:
    links = [link("trigger", "CREATE TRIGGER"), link("index", "CREATE INDEX")]
    ratings = rate_links((("触发器",), ("trigger",)), links)
    assert ratings[0] > 0 == ratings[1]


def test_nothing_asked_or_nothing_shared_is_zero() -> None:
    links = [link("a", "Backup")]
    assert rate_links((), links) == [0.0]
    assert rate_links((("quasar",),), links) == [0.0]
    assert rate_links((("quasar",),), []) == []


def test_pages_that_list_others_are_worth_a_look() -> None:
    assert hub_prior(link("sitemap.html")) == hub_prior(link("x", "Documentation")) == 0.06
    assert hub_prior(link("x", "User guide")) == 0.03
    assert hub_prior(link("x", "网站 目录")) == 0.06
    assert hub_prior(link("x", "Buy now")) == 0.0
