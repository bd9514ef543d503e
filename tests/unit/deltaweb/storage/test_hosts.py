"""Which addresses a host is asked at."""

import pytest

from deltaweb.storage.objects.hosts import allowed_addresses, refusal


@pytest.mark.parametrize("address", ["64:ff9b::808:808", "::ffff:8.8.8.8", "8.8.8.8"])
def test_public_hosts_are_asked_at_the_address_that_the_name_has(address: str) -> None:
    assert allowed_addresses(address, allowed=[]) == ([address], "")


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("2002:a01:203::1", id="6to4"),
        pytest.param("2001:0:a01:203::1", id="Teredo"),
        pytest.param("64:ff9b:1::a01:203", id="a translator of the network's own"),
        pytest.param("::ffff:0:10.0.0.1", id="translated by the host"),
        pytest.param("64:ff9b::7f00:1", id="this machine, translated"),
        pytest.param("fd00:ec2::254", id="what AWS tells its machines"),
        pytest.param("168.63.129.16", id="what Azure tells its machines"),
    ],
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
