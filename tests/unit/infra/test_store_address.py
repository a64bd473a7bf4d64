"""Addresses of stores and brokers: what is taken apart, what is refused and with which reason, what nobody sees."""

import pytest
from pydantic import ValidationError

from infra.broker import broker_url, transport_options
from infra.roles import BROKER_PREFIX
from infra.settings import load
from infra.store_address import StoreAddress, check_broker_address, parse


def test_an_address_of_sentinels() -> None:
    url = "redis+sentinel://u:p%40@a:1,b/main?db=2&sentinel_password=s"
    assert parse(url) == StoreAddress(
        kind="sentinel",
        url=url,
        hosts=(("a", 1), ("b", 26_379)),
        username="u",
        password="p@",
        service="main",
        database=2,
        sentinel_password="s",
    )


def test_an_address_of_a_cluster() -> None:
    url = "rediss+cluster://:p@a,b:7000"
    assert parse(url) == StoreAddress(
        kind="cluster", url=url, hosts=(("a", 6379), ("b", 7000)), password="p", tls=True
    )


@pytest.mark.parametrize("url", ["redis://h:1/0", "rediss://h", "unix:///x.sock"])
def test_one_server_is_left_to_the_client(url: str) -> None:
    assert parse(url) == StoreAddress(kind="single", url=url)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://secret", "begins with none of"),
        ("secret", "begins with none of"),
        ("redis+sentinel://secret:1", "names no service"),
        ("redis+sentinel:///main", "names no host"),
        ("redis+sentinel://a:secret/main", "cast|port"),
        ("redis+sentinel://a/main?db=secret", "no number"),
        ("redis+cluster://a,,b", "names no host"),
        ("redis+cluster://a?db=1", "names a database"),
        ("redis+cluster://a?secret=1", "not known"),
    ],
)
def test_what_is_no_store_is_refused(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse(url)


@pytest.mark.parametrize(
    "url", ["redis://h", "unix:///x.sock", "redis+sentinel://a/main", "amqp://u:p@h//", "amqps://h"]
)
def test_where_messages_may_go(url: str) -> None:
    check_broker_address(url)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("redis+cluster://a", "several queues in one command"),
        ("sentinel://a", r"write redis\+sentinel"),
        ("rediss+sentinel://a/main", "TLS"),
        ("sqs://a", "begins with none of"),
    ],
)
def test_where_messages_may_not_go(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check_broker_address(url)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"redis_url": "redis+cluster://a"}, "broker_url"),
        ({"redis_url": "redis://a", "broker_url": "redis+cluster://a"}, "broker_url"),
        ({"redis_url": "redis://a", "broker_url": "http://a"}, "broker_url"),
        ({"redis_url": "amqp://a", "broker_url": "redis://a"}, "redis_url"),
    ],
)
def test_settings_that_cannot_work_name_the_field(settings: dict[str, str], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        load(**settings)
    assert [each["loc"] for each in refused.value.errors()] == [(field,)]


def test_a_cluster_beside_another_broker_is_taken() -> None:
    chosen = load(redis_url="redis+cluster://a", broker_url="amqp://b")
    assert (chosen.redis_url, chosen.broker) == ("redis+cluster://a", "amqp://b")


def test_the_message_library_is_told_the_sentinels_and_the_service() -> None:
    url = "redis+sentinel://u:p%40@a:1,b/main?db=2&sentinel_password=s"
    assert broker_url(url) == "sentinel://u:p%40@a:1/2;sentinel://u:p%40@b:26379/2"
    options = transport_options(url)
    assert options["master_name"] == "main"
    assert options["sentinel_kwargs"]["password"] == "s"
    assert options["ack_emulation"] is False


def test_rabbitmq_has_none_of_the_options_of_redis() -> None:
    assert transport_options("amqp://h") == {"confirm_publish": True}
    assert transport_options("redis://h")["global_keyprefix"] == BROKER_PREFIX
