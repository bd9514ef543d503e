"""Which addresses a host is asked at."""

import pytest

from deltaweb.storage.objects.hosts import allowed_addresses, refusal
from tests.support import cases


@pytest.mark.parametrize(
    "address", ["64:ff9b::808:808", "::ffff:8.8.8.8", "8.8.8.8", "2606:4700:4700::1111"]
)
def test_public_hosts_are_asked_at_the_address_that_the_name_has(address: str) -> None:
    assert allowed_addresses(address, allowed=[]) == ([address], "")


@cases(
    "address",
    {
        "6to4": "2002:a01:203::1",
        "Teredo": "2001:0:a01:203::1",
        "a translator of the network's own": "64:ff9b:1::a01:203",
        "translated by the host": "::ffff:0:10.0.0.1",
        "this machine, translated": "64:ff9b::7f00:1",
        "what AWS tells its machines": "fd00:ec2::254",
        "what Azure tells its machines": "168.63.129.16",
        "a relay of 6to4": "192.88.99.1",
        "6to4 to a public host": "2002:808:808::1",
        "examples of IPv4": "203.0.113.7",
        "examples of IPv6": "3fff::1",
        "segment routing": "5f00::1",
        "discarded": "100::1",
        "a dummy": "100:0:0:1::1",
        "anycast of protocols": "192.0.0.9",
        "anycast of protocols by IPv6": "2001:1::1",
        "site-local": "fec0::1",
        "not assigned to anyone": "4000::1",
        "a relay, mapped": "::ffff:192.88.99.1",
        "a relay, translated": "64:ff9b::192.88.99.1",
        "a relay, translated by the host": "::ffff:0:192.88.99.1",
        "a relay, compatible": "::192.88.99.1",
        "shared by a provider's customers": "100.64.0.1",
        "everyone of the network": "255.255.255.255",
        "everyone of a group": "ff0e::1",
    },
)
def test_no_way_around_leads_into_the_servers_own_network(address: str) -> None:
    for allowed in ([], ["*"]):
        assert allowed_addresses(address, allowed=allowed)[0] == []
    assert refusal(address, allowed=[address]) == ""


@pytest.mark.parametrize(
    "address", ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "::10.1.2.3"]
)
def test_a_network_holds_its_addresses_in_every_spelling(address: str) -> None:
    assert refusal(address, allowed=[])
    assert refusal(address, allowed=["*", "10.0.0.0/8"]) == ""
