"""What recipients get of changes with the delta-sharing client."""

import datetime as dt

import delta_sharing
import pandas as pd
import pyarrow.compute as pc
import pytest
import requests

from deltaweb.delta.feed import COMMIT_TIMESTAMP
from tests.functional.sharing_clients.conftest import WITH_FEED, Shared, plain
from tests.functional.sharing_clients.rows import of_frame, of_table
from tests.support import matrix

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:The behavior of DataFrame concatenation:FutureWarning"
    ),
    pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning"),
]

SharedTables = dict[str, Shared]
# They have deletion vectors or mapped columns, which the other format does not carry.
IN_DELTA_ALONE = {
    "delta-spark__feed-mapped-vectors",
    "kernelrs__cdf-column-mapping-id-mode",
    "kernelrs__cdf-table-with-cdc-and-dvs",
}
# By each format tables with files of changes and without, and what one refuses.
OFTEN = [
    case
    for case in (
        ("delta-spark__feed", False),
        ("delta-spark__feed-later", True),
        ("delta-spark__feed-mapped-vectors", False),
        ("delta-spark__feed-mapped-vectors", True),
        ("deltalake__feed", True),
        ("deltars__checkpoint-cdf-table", False),
        ("kernelrs__cdf-column-mapping-id-mode", False),
        ("kernelrs__cdf-column-mapping-id-mode", True),
        ("kernelrs__cdf-table", False),
        ("kernelrs__cdf-table-partitioned", True),
        ("kernelrs__cdf-table-with-cdc-and-dvs", True),
    )
    if case[0] in WITH_FEED
]


def expected(shared: Shared, start: int, end: int | None = None) -> list[str]:
    """The changes of the table itself; the client of one format drops milliseconds."""
    table = shared.table.changes(start, end).read_all()
    place = table.column_names.index(COMMIT_TIMESTAMP)
    seconds = pc.floor_temporal(table[COMMIT_TIMESTAMP], unit="second")
    return of_table(table.set_column(place, COMMIT_TIMESTAMP, seconds))


def seen(frame: pd.DataFrame) -> list[str]:
    """The changes that the client has read, in the same form."""
    moments = [_moment(value) for value in frame[COMMIT_TIMESTAMP]]
    return of_frame(
        frame.assign(**{COMMIT_TIMESTAMP: pd.Series(moments, dtype=object)})
    )


def _moment(value: object) -> dt.datetime:
    if isinstance(value, dt.datetime):
        return value.replace(microsecond=0)
    return dt.datetime.fromtimestamp(int(str(value)) // 1000, dt.UTC)


@pytest.mark.parametrize("use_delta_format", [False, True])
def test_are_those_of_the_table_itself(tables: SharedTables, *, use_delta_format: bool):
    shared = tables["fed"]

    frame = delta_sharing.load_table_changes_as_pandas(
        shared.url, starting_version=0, use_delta_format=use_delta_format
    )

    assert len(frame) > 30
    assert seen(frame) == expected(shared, 0)


@pytest.mark.parametrize("use_delta_format", [False, True])
def test_have_instants_of_partitions_whatever_their_spelling(
    tables: SharedTables, *, use_delta_format: bool
) -> None:
    shared = tables["instants"]

    frame = delta_sharing.load_table_changes_as_pandas(
        shared.url, starting_version=2, use_delta_format=use_delta_format
    )

    assert seen(frame) == expected(shared, 2)
    assert str(frame["ts"].dt.tz) == "UTC"


def test_are_those_of_the_range_alone(tables: SharedTables) -> None:
    shared = tables["fed"]

    frame = delta_sharing.load_table_changes_as_pandas(
        shared.url, starting_version=2, ending_version=3
    )

    assert seen(frame) == expected(shared, 2, 3)


@matrix(
    "name, use_delta_format",
    [(name, is_delta) for name in WITH_FEED for is_delta in (False, True)],
    often=OFTEN,
)
def test_are_those_of_tables_that_others_wrote(tables, name, *, use_delta_format):
    shared = tables[plain(name)]
    start = WITH_FEED[name]
    if name in IN_DELTA_ALONE and not use_delta_format:
        with pytest.raises(requests.HTTPError, match="UNSUPPORTED_OPERATION"):
            delta_sharing.load_table_changes_as_pandas(
                shared.url, starting_version=start
            )
        return

    frame = delta_sharing.load_table_changes_as_pandas(
        shared.url, starting_version=start, use_delta_format=use_delta_format
    )

    assert seen(frame) == expected(shared, start)


def test_of_a_time_are_those_from_its_version_on(tables: SharedTables) -> None:
    shared = tables["fed"]
    made = shared.table.snapshot(4).timestamp

    frame = delta_sharing.load_table_changes_as_pandas(
        shared.url, starting_timestamp=made.isoformat()
    )

    assert seen(frame) == expected(shared, 4)


def test_of_a_table_without_a_feed_are_refused_by_name(tables: SharedTables) -> None:
    with pytest.raises(requests.HTTPError, match="has no changes at version 0"):
        delta_sharing.load_table_changes_as_pandas(
            tables["orders"].url, starting_version=0
        )
