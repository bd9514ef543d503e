"""Which cells of *client x recorded table* are read in every run.

Each client has every fault of its own once. Of every feature that clients are told of,
a client of each door reads a table, in turn: how a log keeps its files is for the
server to know, so that a table of each other feature, and of each error of ours, is
read by one client. Of the tables of older versions, too, each is read by a client of
each door. Spark takes too long to start:
all that it reads is for `pytest -m exhaustive`.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

from tests.functional.sharing_clients.conftest import features_of
from tests.functional.sharing_clients.every_door.faults import (
    FAULTS,
    UNREADABLE,
    VERSIONS,
    Client,
    Fault,
)
from tests.support.golden.golden_tables import NAMES

Cell = tuple[Client, str]
DOORS: Final = (
    (Client.PYICEBERG, Client.BY_IDS, Client.DUCKDB, Client.POLARS, Client.DAFT),
    (Client.PARQUET, Client.DELTA, Client.POWER_BI),
    (Client.DELTALAKE,),
)
LONG: Final = frozenset({Client.SPARK})
TOLD: Final = (
    *("absolute-path", "array", "binary", "column-mapping-id", "column-mapping-name"),
    *("date", "decimal", "deletion-vectors", "map", "nested-struct", "null-partition"),
    *("partition-evolution", "partitioned", "percent-encoded-path"),
    *("schema-evolution", "timestamp", "timestamp-ntz", "type-widening", "variant"),
    "void",
)
CELLS: Final[list[Cell]] = [(client, name) for name in NAMES for client in Client]


def cells_of_every_run() -> set[Cell]:
    """Return them; all others are for `pytest -m exhaustive`."""
    chosen = {*_of_faults(), *_of_versions()}
    often = [client for client in Client if client not in LONG]
    for number, feature in enumerate(TOLD):
        names = [
            name
            for name in NAMES
            if feature in features_of(name) and name not in UNREADABLE
        ]
        for door in DOORS:
            clients = [client for client in door if client in often]
            if names and chosen.isdisjoint(product(clients, names)):
                chosen.add((clients[number % len(clients)], names[0]))
    known = {what for _, name in chosen for what in _told_by(name)}
    for number, name in enumerate(NAMES):
        if not known.issuperset(_told_by(name)):
            known |= _told_by(name)
            chosen.add((often[number % len(often)], name))
    return chosen


def _told_by(name: str) -> set[str]:
    """What a table shows of the server: an error, or its features."""
    return {UNREADABLE[name]} if name in UNREADABLE else {*features_of(name)}


def _of_faults() -> Iterator[Cell]:
    known: set[tuple[Client, Fault]] = set()
    for (client, name), fault in FAULTS.items():
        if name not in NAMES:  # the folder outside has it
            continue
        if (client, fault) not in known and client not in LONG:
            known.add((client, fault))
            yield client, name


def _of_versions() -> Iterator[Cell]:
    for number, name in enumerate(name for name in VERSIONS if name in NAMES):
        for door in DOORS:
            yield door[number % len(door)], name
