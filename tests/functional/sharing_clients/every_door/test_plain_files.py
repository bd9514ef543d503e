"""Recorded tables as plain files, read by clients that know no feature of Delta.

Without plain files, the client of the parquet format is refused each of these tables.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import delta_sharing
import pytest
from pyiceberg.catalog import Catalog

from tests.functional.sharing_clients.conftest import (
    catalog_of,
    new_profile,
    plain,
    put_into_share,
)
from tests.functional.sharing_clients.every_door.conftest import table_of
from tests.functional.sharing_clients.every_door.faults import (
    FAULTS,
    MAPPED,
    MARKED,
    NULL_LISTS,
    WIDENED,
    Client,
)
from tests.functional.sharing_clients.rows import Rows, of_frame, of_table
from tests.support.golden.golden_tables import NAMES, golden_folder
from tests.support.processes.installation import Installation

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning"),
]
SHARE: Final = "plainfiles"
REFUSED: Final = [
    name
    for name in NAMES
    if FAULTS.get((Client.PARQUET, name)) in {MARKED, MAPPED, WIDENED}
]
NO_ZONE: Final = (
    "delta-spark__widened",
    "golden__data-reader-timestamp_ntz-name-mode",
    "kernelrs__stats-writing-all-types",
)
"""Tables whose types the parquet format has no name for."""


@dataclass(frozen=True)
class Plain:
    """The recorded tables in a share, as plain files."""

    profile: Path
    catalog: Catalog

    def in_parquet_format(self, name: str) -> Rows:
        url = f"{self.profile}#{SHARE}.data.{plain(name)}"
        return of_frame(delta_sharing.load_as_pandas(url, use_delta_format=False))

    def by_pyiceberg(self, name: str) -> Rows:
        table = self.catalog.load_table(("data", plain(name)))
        assert table.metadata.format_version == 2
        return of_table(table.scan().to_arrow())


@pytest.fixture(scope="module")
def shared(server: Installation) -> Plain:
    server.command("share", "create", SHARE)
    places = {plain(name): golden_folder(name) for name in REFUSED}
    put_into_share(server, SHARE, places, space=SHARE)
    server.command("share", "plain", SHARE)
    profile = new_profile(server, "old-reader", SHARE)
    server.command("share", "prepare", SHARE)
    return Plain(profile, catalog_of(profile, SHARE))


@pytest.mark.parametrize("name", REFUSED)
def test_the_parquet_format_has_the_rows_of_the_table(shared: Plain, name: str) -> None:
    if name in NO_ZONE:
        with pytest.raises(Exception, match="timestamp_ntz"):
            shared.in_parquet_format(name)
        return

    assert shared.in_parquet_format(name) == of_table(table_of(name).snapshot().read())


@pytest.mark.parametrize("name", REFUSED)
def test_iceberg_has_them_without_deletion_vectors(shared: Plain, name: str) -> None:
    is_right = shared.by_pyiceberg(name) == of_table(table_of(name).snapshot().read())

    assert is_right is (FAULTS.get((Client.PYICEBERG, name)) is not NULL_LISTS)
