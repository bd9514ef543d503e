"""What the registry of clients says is what clients do with the recorded tables."""

import json

import pytest

from tests.functional.sharing_clients.every_door.faults import (
    FAULTS,
    UNREADABLE,
)
from tests.functional.sharing_clients.every_door.plain_faults import (
    PLAIN_CLIENTS,
    PLAIN_FAULTS,
    PLAIN_TABLES,
)
from tests.functional.sharing_clients.every_door.registry import (
    KNOWN_AS,
    RESULTS,
    results,
    said_of,
    said_of_plain,
)
from tests.support.golden.golden_tables import NAMES
from tests.support.golden.recorded import outside


@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNREADABLE])
def test_a_page_says_of_each_client_what_it_does(name: str) -> None:
    said = said_of(name)

    for client, known_as in KNOWN_AS.items():
        fault = FAULTS.get((client, name))
        reads = fault is None or not fault.is_foreseen
        assert said[known_as] is reads, (client, fault)


@pytest.mark.parametrize("name", PLAIN_TABLES)
def test_a_page_says_of_plain_files_what_clients_do(name: str) -> None:
    said = said_of_plain(name)

    for client in {*PLAIN_CLIENTS} & {*KNOWN_AS}:
        fault = PLAIN_FAULTS.get((client, name))
        reads = fault is None or not fault.is_foreseen
        assert said[KNOWN_AS[client]] is reads, (client, fault)


def test_the_manual_has_what_was_measured() -> None:
    if outside("DELTAWEB_GOLDEN") is None:
        pytest.skip("the recorded tables of the folder outside were measured as well")
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))

    assert kept == {**results(), "measured_on": kept["measured_on"]}
