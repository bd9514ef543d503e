import pytest
from django.test import RequestFactory
from pytest_django import Settings

from apps.pages.request.addresses import (
    client_address,
    network_of,
    parse_address,
)
from tests.support import cases

PROXIES = ["10.0.0.0/8", "2001:db8::/32"]


class TestClientAddress:
    @cases(
        "remote, forwarded, address",
        {
            "no proxy": ("192.0.2.7", "", "192.0.2.7"),
            "a stranger's claim": ("192.0.2.7", "198.51.100.9", "192.0.2.7"),
            "one proxy": ("10.0.0.1", "192.0.2.7", "192.0.2.7"),
            "two proxies": ("10.0.0.1", "192.0.2.7, 10.0.0.2", "192.0.2.7"),
            "a claim that came through a proxy": (
                "10.0.0.1",
                "198.51.100.9, 192.0.2.7",
                "192.0.2.7",
            ),
            "a claim to be a proxy": ("10.0.0.1", "10.9.9.9, 192.0.2.7", "192.0.2.7"),
            "a proxy by itself": ("10.0.0.1", "", "10.0.0.1"),
            "proxies alone": ("10.0.0.1", "10.0.0.2", "10.0.0.2"),
            "no address": ("10.0.0.1", "unknown", "10.0.0.1"),
            "no address in between": (
                "10.0.0.1",
                "198.51.100.9, garbage, 10.0.0.2",
                "10.0.0.2",
            ),
            "an empty end": ("10.0.0.1", "192.0.2.7,", "10.0.0.1"),
            "mapped": ("::ffff:10.0.0.1", "192.0.2.7", "192.0.2.7"),
            "IPv6": ("2001:db8::1", "2001:DB9::7", "2001:db9::7"),
            "unknown: a socket": ("", "192.0.2.7", ""),
            "with a port": ("10.0.0.1", "192.0.2.7:4711", "10.0.0.1"),
        },
    )
    def test_is_the_nearest_that_is_no_proxy(
        self,
        rf: RequestFactory,
        settings: Settings,
        remote: str,
        forwarded: str,
        address: str,
    ) -> None:
        settings.TRUSTED_PROXIES = PROXIES
        headers = {"X-Forwarded-For": forwarded} if forwarded else {}

        request = rf.get("/", REMOTE_ADDR=remote, headers=headers)

        assert client_address(request) == address

    def test_without_proxies_nobody_may_claim(self, rf, settings):
        settings.TRUSTED_PROXIES = []

        request = rf.get(
            "/", REMOTE_ADDR="127.0.0.1", headers={"X-Forwarded-For": "192.0.2.7"}
        )

        assert client_address(request) == "127.0.0.1"


class TestParseAddress:
    @pytest.mark.parametrize("text", ["", "localhost", "10.0.0.1/8", "10.0.0.01"])
    def test_is_none_for_what_is_no_address(self, text: str) -> None:
        assert parse_address(text) is None

    def test_reads_a_mapped_address_as_what_it_is(self) -> None:
        assert str(parse_address(" ::ffff:192.0.2.7 ")) == "192.0.2.7"


@cases(
    "address, network",
    {
        "an address": ("192.0.2.7", "192.0.2.7"),
        "a mapped one": ("::ffff:192.0.2.7", "192.0.2.7"),
        "a customer": ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        "nothing": ("", "unknown"),
    },
)
def test_a_network_stands_for_everybody_behind_an_address(address: str, network: str):
    assert network_of(address) == network
