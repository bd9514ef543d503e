"""Which hosts the options of a storage connection may lead to."""

from typing import Any

import pytest

from apps.tables.storage.endpoints import check_endpoints
from apps.tables.storage.errors import StorageHostError
from tests.support import cases

LOCAL = {"client_kwargs": {"endpoint_url": "http://127.0.0.1:9000"}}


@cases(
    "options, host",
    {
        "the machine itself": (LOCAL, "127.0.0.1"),
        "a name": ({"endpoint_url": "http://LOCALHOST/x"}, "localhost"),
        "what clouds tell their machines": (
            {"endpoint_url": "http://169.254.169.254/latest"},
            "169.254.169.254",
        ),
        "IPv6": ({"endpoint_url": "https://[::1]:9000"}, "::1"),
        "IPv4 in IPv6": (
            {"endpoint_url": "https://[::ffff:10.0.0.1]"},
            "::ffff:10.0.0.1",
        ),
        "a user": ({"endpoint_url": "https://user:word@10.1.2.3/"}, "10.1.2.3"),
        "digits": ({"endpoint_url": "http://2130706433/"}, "2130706433"),
        "Azure": ({"account_host": "192.168.0.7:10000"}, "192.168.0.7"),
        "a connection string": (
            {"connection_string": "AccountName=a;BlobEndpoint=http://10.0.0.8:1/a;"},
            "10.0.0.8",
        ),
        "the emulator": (
            {"connection_string": "UseDevelopmentStorage=true"},
            "127.0.0.1",
        ),
        "a proxy": (
            {"config_kwargs": {"proxies": {"https": "http://10.0.0.9:3128"}}},
            "10.0.0.9",
        ),
        "a mark": ({"endpoint_url": "http://10.0.0.8:1#@one.example"}, "10.0.0.8"),
        "a query": ({"endpoint_url": "http://10.0.0.8?@one.example"}, "10.0.0.8"),
        "an account that is an address": (
            {"connection_string": "AccountName=10.0.0.8:1/;AccountKey=a2V5"},
            "10.0.0.8",
        ),
        "the same, alone": ({"account_name": "10.0.0.8/"}, "10.0.0.8"),
        "a suffix behind a user": (
            {"connection_string": "AccountName=a;EndpointSuffix=x@10.0.0.8:1"},
            "10.0.0.8",
        ),
    },
)
def test_the_servers_own_network_is_refused(options: dict[str, Any], host: str) -> None:
    for allowed in ([], ["*"], ["other.example"]):
        with pytest.raises(StorageHostError) as caught:
            check_endpoints(options, allowed=allowed)
        assert caught.value.host == host


@pytest.mark.parametrize(
    "allowed", [["127.0.0.1"], ["*", "127.0.0.0/8"], ["10.0.0.0/8", "127.0.0.1"]]
)
def test_what_is_named_is_allowed(allowed: list[str]) -> None:
    check_endpoints(LOCAL, allowed=allowed)


def test_public_hosts_are_allowed_until_hosts_are_named() -> None:
    options = {"endpoint_url": "https://198.41.0.4", "key": "k"}

    check_endpoints(options, allowed=[])
    check_endpoints(options, allowed=["*", "10.0.0.0/8"])
    with pytest.raises(StorageHostError, match="not one of those allowed"):
        check_endpoints(options, allowed=["10.0.0.0/8"])


def test_all_below_a_domain_may_be_named() -> None:
    options = {"endpoint_url": "https://minio.intern.example"}

    check_endpoints(options, allowed=[".intern.example"])
    with pytest.raises(StorageHostError):
        check_endpoints(options, allowed=[".tern.example"])


def test_options_without_an_address_are_allowed() -> None:
    check_endpoints({"key": "http", "anon": True, "n": 1}, allowed=["one.example"])
