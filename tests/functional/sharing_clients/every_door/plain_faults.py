"""What some client does not read of plain files: what plain files do not mend.

The tables are those of the project's own recordings that some client does not read as
stored. Others are read plain in `test_plain_files`, by two clients.
"""

from collections.abc import Mapping
from typing import Final

from tests.functional.sharing_clients.every_door.faults import (
    FAR_TIMES,
    FAULTS,
    MAPPED,
    MARKED,
    NTZ,
    PUFFIN,
    REFUSED,
    VARIANTS,
    WIDE_DECIMALS,
    WIDENED,
    WITH_LOCAL_TIMES,
    Client,
    Fault,
)
from tests.support.golden.golden_tables import NAMES
from tests.support.golden.recorded import is_own

PLAIN_CLIENTS: Final = tuple(
    client for client in Client if client not in {Client.SPARK, Client.DELTALAKE}
)
"""Spark takes too long to start; deltalake reads the folder, where nothing is plain."""
PLAIN_TABLES: Final = [
    name
    for name in NAMES
    if is_own(name) and any(faulty == name for _, faulty in FAULTS)
]
PLAIN_CELLS: Final = [
    (client, name) for name in PLAIN_TABLES for client in PLAIN_CLIENTS
]
NO_ZONE: Final = (
    *WITH_LOCAL_TIMES,
    "delta-spark__widened",
    "golden__data-reader-timestamp_ntz-name-mode",
    "kernelrs__stats-writing-all-types",
)
"""Tables whose types the parquet format has no name for, however they are stored."""
_MENDED: Final = {
    *(FAR_TIMES, MAPPED, MARKED, PUFFIN, REFUSED, WIDE_DECIMALS, WIDENED),
}
_LEFT: Final = {
    **{(Client.PARQUET, name): NTZ for name in NO_ZONE},
    **{(Client.POWER_BI, name): REFUSED for name in (*NO_ZONE, *VARIANTS)},
}
PLAIN_FAULTS: Final[Mapping[tuple[Client, str], Fault]] = {
    cell: fault
    for cell, fault in ({**FAULTS} | _LEFT).items()
    if cell in PLAIN_CELLS and (fault not in _MENDED or cell in _LEFT)
}
