"""In every run the reference implementation and we write to one table, in turn.

The reference has made it, of the features of today, in another zone than ours. What
each feature, each kind of checkpoint, each clash of two writers and the code for each
kind of table does there is asked in the files beside, by `make test-all`.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from apps.explorer.use.snippets import view_snippets
from deltaweb.delta.features.column_mapping import COLUMN_MAPPING
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.known.remedies import remedy
from deltaweb.delta.features.v2_checkpoints import V2_CHECKPOINT
from deltaweb.table import DeltaTable
from tests.support.golden.recorded_views import recorded_view
from tests.support.peers.checkpoint_peers import checkpoints_at
from tests.support.peers.reference_implementation import Reference, zone_of
from tests.support.stores.overtaken import Overtaken
from tests.support.tables.tracked_rows import known_by

CREATE = """
CREATE TABLE {t} USING delta PARTITIONED BY (at) TBLPROPERTIES (
    'delta.columnMapping.mode' = 'name',
    'delta.enableDeletionVectors' = 'true',
    'delta.enableInCommitTimestamps' = 'true',
    'delta.enableRowTracking' = 'true',
    'delta.checkpointPolicy' = 'v2',
    'delta.checkpoint.writeStatsAsJson' = 'false',
    'delta.checkpoint.writeStatsAsStruct' = 'true',
    'delta.checkpointInterval' = '9'
) AS SELECT id AS k, concat('ü ', id) AS s, TIMESTAMP'2024-03-10 07:00:00Z' AS at
FROM range(0, 20, 1, 1)
"""
INSERT = "INSERT INTO {t} VALUES (30, 'theirs', TIMESTAMP'2024-03-10 04:00:00', 7)"
DELETE = "DELETE FROM {t} WHERE k IN (7, 31) AND at >= TIMESTAMP'2024-03-10 03:00:00'"
READ = (
    "SELECT k, text, unix_micros(at), more, _metadata.row_id,"
    " _metadata.row_commit_version FROM {t}"
)
# Its parser alone tells of a statement what it is without running it.
PARSE = """
parser = spark._jsparkSession.sessionState().sqlParser()
for statement in {statements}:
    parser.parsePlan(statement)
found = spark.createDataFrame([(one,) for one in {statements}], "statement STRING")
"""
SEVEN, EIGHT = (datetime(2024, 3, 10, hour, tzinfo=UTC) for hour in (7, 8))
LATE = datetime(2999, 1, 1, tzinfo=UTC)


def test_both_read_the_same_whoever_wrote_last(reference: Reference, tmp_path: Path):
    folder = tmp_path / "table"
    with zone_of(reference, "America/New_York"):
        reference.sql(CREATE, folder)
        table = DeltaTable.from_store(store := Overtaken(str(folder)))
        assert table.snapshot().read().sort_by("k").to_pylist() == [
            {"k": k, "s": f"ü {k}", "at": SEVEN} for k in range(20)
        ]

        change_by_each_statement(table)
        store.rival = lambda: reference.sql(INSERT, folder)
        table.append(pa.table({"k": [31], "text": ["ours"], "at": [EIGHT]}))
        leave_our_checkpoint_alone(table)
        assert reference.live_files(folder) == live_files(table)
        assert there(reference, folder) == here(table)

        reference.sql(DELETE, folder)
        newest = table.latest_version()
        assert checkpoints_at(folder, newest)  # its own
        assert there(reference, folder) == here(table)
        left = [k for k in range(20) if k % 5 != 1 and k not in {4, 7}]
        assert [row[0] for row in here(table)] == [*left, 30, 99]

    view = recorded_view(folder, newest)
    code = {made.key: made.text for made in view_snippets(view)}
    assert reference.count(code["pyspark"]) == len(left) + 2

    remedies = [
        statement
        for feature in (COLUMN_MAPPING, DELETION_VECTORS, V2_CHECKPOINT)
        for statement in remedy(feature).statements(feature, f"delta.`{folder}`")
    ]
    assert reference.count(PARSE.format(statements=remedies)) == len(remedies)


def change_by_each_statement(table: DeltaTable) -> None:
    table.rename_column("s", "text")
    table.delete("k % 5 = 1")
    table.update({"text": "concat(text, '!')", "at": f"TIMESTAMP'{EIGHT}'"}, "k < 4")
    table.add_columns("more BIGINT")
    source = pa.table({"k": [4, 5, 99], "text": ["four", "five", "new"]})
    merge = table.merge(source, on="t.k = s.k").when_matched_delete("s.k = 4")
    merge = merge.when_matched_update({"text": "s.text"})
    merge.when_not_matched_insert({"k": "s.k", "text": "s.text"}).execute()
    table.optimize()


def leave_our_checkpoint_alone(table: DeltaTable) -> None:
    """Write a checkpoint, and clean up all that came before."""
    written = table.create_checkpoint(parts=2)
    assert table.clean_up_log(now=LATE).files
    (name,) = checkpoints_at(Path(table.root), written.version)
    assert name in written.names


def live_files(table: DeltaTable) -> list[str]:
    return sorted(table.snapshot().files["path"].to_pylist())


def there(reference: Reference, folder: Path) -> list[list[Any]]:
    return sorted(reference.sql(READ, folder))


def here(table: DeltaTable) -> list[list[Any]]:
    known = known_by(table)
    return sorted(
        [
            row["k"],
            row["text"],
            row["at"] and round(row["at"].timestamp() * 1_000_000),
            row["more"],
            *known[row["k"]],
        ]
        for row in table.snapshot().read().to_pylist()
    )
