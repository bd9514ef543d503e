"""Recorded tables as plain files by every door: what plain files mend, and what not.

A cell that is not in `plain_faults` reads the very rows of the table.
"""

import re
from typing import Final

import pytest

from tests.functional.sharing_clients.every_door.faults import FAULTS, Client, Fault
from tests.functional.sharing_clients.every_door.plain_faults import (
    PLAIN_CELLS,
    PLAIN_FAULTS,
)
from tests.functional.sharing_clients.every_door.test_every_door import READ, expected
from tests.support import matrix

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::polars.exceptions.PerformanceWarning"),
]


def _of_every_run() -> list[tuple[Client, str]]:
    """Each client has once what plain files mend for it, and what they leave."""
    known: set[tuple[Client, Fault | None, Fault | None]] = set()
    chosen: list[tuple[Client, str]] = []
    for client, name in PLAIN_CELLS:
        shown = (client, FAULTS.get((client, name)), PLAIN_FAULTS.get((client, name)))
        if any(shown[1:]) and shown not in known:
            known.add(shown)
            chosen.append((client, name))
    return chosen


OFTEN: Final = _of_every_run()


@matrix("client, name", PLAIN_CELLS, often=OFTEN)
def test_a_client_reads_the_rows_of_plain_files(plain_doors, client, name):
    read, fault = READ[client], PLAIN_FAULTS.get((client, name))
    if fault is None:
        assert read(plain_doors, name, None) == expected(name, None)
    elif fault.shown is None:
        assert read(plain_doors, name, None) != expected(name, None), fault
    else:
        with pytest.raises(Exception, match=re.compile(fault.shown)):
            read(plain_doors, name, None)


def test_every_fault_of_plain_files_is_one_of_a_cell() -> None:
    assert set(PLAIN_FAULTS) <= set(PLAIN_CELLS)
