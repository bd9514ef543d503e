import pytest

from apps.sharing.access.networks import has_allow_list, is_allowed, parse_networks
from apps.sharing.errors import NetworkInvalidError, TooManyNetworksError
from apps.sharing.models import Recipient
from tests.support import cases


class TestParseNetworks:
    @cases(
        "text, stored",
        {
            "a network": ("192.0.2.0/24", "192.0.2.0/24"),
            "one address": (" 192.0.2.7 ", "192.0.2.7/32"),
            "a mask": ("192.0.2.0/255.255.255.0", "192.0.2.0/24"),
            "IPv6": ("2001:DB8::/32", "2001:db8::/32"),
            "one address of IPv6": ("::1", "::1/128"),
            "IPv4 in IPv6": ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            "all of IPv4": ("0.0.0.0/0", "0.0.0.0/0"),
        },
    )
    def test_stores_one_spelling(self, text: str, stored: str) -> None:
        assert parse_networks([text]) == [stored]

    def test_keeps_the_order_and_drops_repetitions(self) -> None:
        texts = ["10.0.0.0/8", "192.0.2.0/24", "10.0.0.0/8"]

        assert parse_networks(texts) == ["10.0.0.0/8", "192.0.2.0/24"]

    @pytest.mark.parametrize("texts", [[""], [" "], ["10.0.0.0/8", "\t"]])
    def test_refuses_blanks_which_would_allow_every_address(self, texts) -> None:
        with pytest.raises(NetworkInvalidError, match="it is blank"):
            parse_networks(texts)

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
        with pytest.raises(TooManyNetworksError, match="101 networks; the most is 100"):
            parse_networks(texts)


class TestIsAllowed:
    @cases(
        "address, networks, allowed",
        {
            "inside": ("192.0.2.9", ["192.0.2.0/24"], True),
            "outside": ("192.0.3.9", ["192.0.2.0/24"], False),
            "any": ("192.0.2.9", ["10.0.0.0/8", "192.0.2.9/32"], True),
            "mapped": ("::ffff:192.0.2.9", ["192.0.2.0/24"], True),
            "IPv6": ("2001:db8::9", ["2001:db8::/32"], True),
            "the other family": ("2001:db8::9", ["0.0.0.0/0"], False),
            "with a zone": ("fe80::1%eth0", ["fe80::/10"], True),
            "unknown: closed": ("", ["0.0.0.0/0", "::/0"], False),
            "no address: closed": ("unix", ["0.0.0.0/0"], False),
            "no list: open": ("", [], True),
            "no list, known": ("192.0.2.9", [], True),
        },
    )
    def test_decides(self, address: str, networks: list[str], *, allowed: bool) -> None:
        recipient = Recipient(allowed_networks=networks)

        assert is_allowed(recipient, address) is allowed
        assert has_allow_list(recipient) is bool(networks)
