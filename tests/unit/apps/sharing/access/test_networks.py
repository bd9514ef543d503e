import pytest

from deltaweb.web.sharing.access.networks import is_allowed, parse_networks
from deltaweb.web.sharing.errors import NetworkInvalidError, TooManyNetworksError


class TestParseNetworks:
    @pytest.mark.parametrize(
        ("text", "stored"),
        [
            pytest.param("192.0.2.0/24", "192.0.2.0/24", id="a network"),
            pytest.param(" 192.0.2.7 ", "192.0.2.7/32", id="one address"),
            pytest.param("192.0.2.0/255.255.255.0", "192.0.2.0/24", id="a mask"),
            pytest.param("2001:DB8::/32", "2001:db8::/32", id="IPv6"),
            pytest.param("::1", "::1/128", id="one address of IPv6"),
            pytest.param("::ffff:10.0.0.0/104", "10.0.0.0/8", id="IPv4 in IPv6"),
            pytest.param("0.0.0.0/0", "0.0.0.0/0", id="all of IPv4"),
        ],
    )
    def test_stores_one_spelling(self, text: str, stored: str) -> None:
        assert parse_networks([text]) == [stored]

    def test_keeps_the_order_and_drops_blanks_and_repetitions(self) -> None:
        texts = ["10.0.0.0/8", "", "  ", "192.0.2.0/24", "10.0.0.0/8"]

        assert parse_networks(texts) == ["10.0.0.0/8", "192.0.2.0/24"]

    def test_offers_the_network_when_bits_are_set_after_the_prefix(self) -> None:
        with pytest.raises(NetworkInvalidError) as caught:
            parse_networks(["192.0.2.7/24"])

        assert "bits set after its prefix" in caught.value.message
        assert "192.0.2.0/24" in caught.value.hint
        assert "192.0.2.7" in caught.value.hint

    @pytest.mark.parametrize(
        "text",
        [
            "everywhere",
            "192.0.2",
            "192.0.2.0/33",
            "192.0.2.0/-1",
            "192.0.2.0/",
            "192.0.2.0/24/8",
            "010.0.0.1",
            "2001:db8::/129",
            "fe80::1%eth0/64",
            "10.0.0.1, 10.0.0.2",
            "10.0.0.0-10.0.0.9",
            "１０.0.0.1",
        ],
    )
    def test_refuses_what_is_no_network(self, text: str) -> None:
        with pytest.raises(NetworkInvalidError, match="is not a network"):
            parse_networks([text])

    def test_takes_a_hundred_and_no_more(self) -> None:
        texts = [f"10.0.{number}.0/24" for number in range(101)]

        assert len(parse_networks(texts[:100])) == 100
        with pytest.raises(TooManyNetworksError, match="101 networks; 100 fit"):
            parse_networks(texts)


class TestIsAllowed:
    @pytest.mark.parametrize(
        ("address", "networks", "allowed"),
        [
            pytest.param("192.0.2.9", ["192.0.2.0/24"], True, id="inside"),
            pytest.param("192.0.3.9", ["192.0.2.0/24"], False, id="outside"),
            pytest.param("192.0.2.9", ["10.0.0.0/8", "192.0.2.9/32"], True, id="any"),
            pytest.param("::ffff:192.0.2.9", ["192.0.2.0/24"], True, id="mapped"),
            pytest.param("2001:db8::9", ["2001:db8::/32"], True, id="IPv6"),
            pytest.param("2001:db8::9", ["0.0.0.0/0"], False, id="the other family"),
            pytest.param("fe80::1%eth0", ["fe80::/10"], True, id="with a zone"),
            pytest.param("", ["0.0.0.0/0", "::/0"], False, id="unknown: closed"),
            pytest.param("unix", ["0.0.0.0/0"], False, id="no address: closed"),
            pytest.param("", [], True, id="no list: open"),
            pytest.param("192.0.2.9", [], True, id="no list, known"),
        ],
    )
    def test_decides(self, address: str, networks: list[str], *, allowed: bool) -> None:
        assert is_allowed(address, networks) is allowed
