import pytest
from django.test import RequestFactory
from pytest_django import Settings

from deltaweb.web.pages.request.addresses import (
    client_address,
    network_of,
    parse_address,
)

PROXIES = ["10.0.0.0/8", "2001:db8::/32"]


class TestClientAddress:
    @pytest.mark.parametrize(
        ("remote", "forwarded", "address"),
        [
            pytest.param("192.0.2.7", "", "192.0.2.7", id="no proxy"),
            pytest.param(
                "192.0.2.7", "198.51.100.9", "192.0.2.7", id="a stranger's claim"
            ),
            pytest.param("10.0.0.1", "192.0.2.7", "192.0.2.7", id="one proxy"),
            pytest.param(
                "10.0.0.1", "192.0.2.7, 10.0.0.2", "192.0.2.7", id="two proxies"
            ),
            pytest.param(
                "10.0.0.1",
                "198.51.100.9, 192.0.2.7",
                "192.0.2.7",
                id="a claim that came through a proxy",
            ),
            pytest.param(
                "10.0.0.1",
                "10.9.9.9, 192.0.2.7",
                "192.0.2.7",
                id="a claim to be a proxy",
            ),
            pytest.param("10.0.0.1", "", "10.0.0.1", id="a proxy by itself"),
            pytest.param("10.0.0.1", "10.0.0.2", "10.0.0.2", id="proxies alone"),
            pytest.param("10.0.0.1", "unknown", "10.0.0.1", id="no address"),
            pytest.param(
                "10.0.0.1",
                "198.51.100.9, garbage, 10.0.0.2",
                "10.0.0.2",
                id="no address in between",
            ),
            pytest.param("10.0.0.1", "192.0.2.7,", "10.0.0.1", id="an empty end"),
            pytest.param("::ffff:10.0.0.1", "192.0.2.7", "192.0.2.7", id="mapped"),
            pytest.param("2001:db8::1", "2001:DB9::7", "2001:db9::7", id="IPv6"),
            pytest.param("", "192.0.2.7", "", id="unknown: a socket"),
            pytest.param("10.0.0.1", "192.0.2.7:4711", "10.0.0.1", id="with a port"),
        ],
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


@pytest.mark.parametrize(
    ("address", "network"),
    [
        pytest.param("192.0.2.7", "192.0.2.7", id="an address"),
        pytest.param("::ffff:192.0.2.7", "192.0.2.7", id="a mapped one"),
        pytest.param("2001:db8:1:2:3::4", "2001:db8:1:2::/64", id="a customer"),
        pytest.param("", "unknown", id="nothing"),
    ],
)
def test_a_network_stands_for_everybody_behind_an_address(address: str, network: str):
    assert network_of(address) == network
