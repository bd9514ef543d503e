"""Which addresses a host is asked at."""

import pytest

from deltaweb.storage.objects.hosts import allowed_addresses, refusal


@pytest.mark.parametrize("address", ["64:ff9b::808:808", "::ffff:8.8.8.8", "8.8.8.8"])
def test_public_hosts_are_asked_at_the_address_that_the_name_has(address: str) -> None:
    assert allowed_addresses(address, allowed=[]) == ([address], "")


@pytest.mark.parametrize(
    "address", ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "::10.1.2.3"]
)
def test_a_network_holds_its_addresses_in_every_spelling(address: str) -> None:
    assert refusal(address, allowed=[])
    assert refusal(address, allowed=["*", "10.0.0.0/8"]) == ""
