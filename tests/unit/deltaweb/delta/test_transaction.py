"""The small writer makes tables that other readers read."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable as PeerTable

from deltaweb.delta.transaction import (
    TableState,
    commit_info_action,
    metadata_action,
    protocol_action,
    write_checkpoint,
    write_commit,
    write_data_file,
)
from deltaweb.storage.local import LocalTableStore

SCHEMA_STRING = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": "id", "type": "long", "nullable": True, "metadata": {}},
            {"name": "place", "type": "string", "nullable": True, "metadata": {}},
        ],
    }
)


@pytest.fixture
def store(tmp_path: Path) -> LocalTableStore:
    return LocalTableStore(str(tmp_path))


def created() -> list[dict[str, Any]]:
    metadata = metadata_action(
        table_id="5a1c",
        schema_string=SCHEMA_STRING,
        created_time=1,
        partition_columns=["place"],
    )
    return [protocol_action(), metadata]


class TestWriteCommit:
    def test_writes_one_action_a_line(
        self, store: LocalTableStore, tmp_path: Path
    ) -> None:
        write_commit(store, 0, created())

        text = (tmp_path / "_delta_log" / f"{0:020d}.json").read_text()
        assert [next(iter(json.loads(line))) for line in text.splitlines()] == [
            "protocol",
            "metaData",
        ]

    def test_never_replaces_a_version(self, store: LocalTableStore) -> None:
        write_commit(store, 0, created())

        with pytest.raises(FileExistsError):
            write_commit(store, 0, [])

    def test_keeps_parameters_and_metrics_as_texts(self) -> None:
        action: dict[str, Any] = commit_info_action(
            timestamp=5,
            operation="WRITE",
            parameters={"mode": "Append", "partitionBy": ["place"]},
            metrics={"numFiles": 3},
            user_name="alice",
            engine_info="tests",
            read_version=0,
        )

        info = action["commitInfo"]
        assert info["operationParameters"] == {
            "mode": "Append",
            "partitionBy": '["place"]',
        }
        assert info["operationMetrics"] == {"numFiles": "3"}
        assert info["readVersion"] == 0


class TestWriteDataFile:
    @pytest.mark.parametrize(
        ("place", "path"),
        [
            pytest.param("Lyon", "place=Lyon/f.parquet", id="plain"),
            pytest.param("a b", "place=a%20b/f.parquet", id="a space is escaped once"),
            pytest.param("50%", "place=50%2525/f.parquet", id="a percent sign twice"),
            pytest.param(
                "a/b", "place=a%252Fb/f.parquet", id="a slash stays one folder"
            ),
            pytest.param(None, "place=__HIVE_DEFAULT_PARTITION__/f.parquet", id="null"),
        ],
    )
    def test_escapes_partition_values_in_the_path(
        self, store: LocalTableStore, place: str | None, path: str
    ) -> None:
        file = write_data_file(
            store,
            pa.table({"id": [1]}),
            file_name="f.parquet",
            modification_time=9,
            partition_values={"place": place},
        )

        assert file.path == path
        assert file.partition_values == {"place": place}

    def test_gives_a_table_that_another_reader_reads(
        self, store: LocalTableStore, tmp_path: Path
    ) -> None:
        write_commit(store, 0, created())
        files = [
            write_data_file(
                store,
                pa.table({"id": [number]}),
                file_name=f"{number}.parquet",
                modification_time=9,
                partition_values={"place": place},
            )
            for number, place in enumerate(["a b", "50%", "ü"])
        ]
        write_commit(store, 1, [file.add() for file in files])
        write_commit(store, 2, [files[0].remove(deletion_timestamp=10)])

        rows = PeerTable(tmp_path).to_pyarrow_table().sort_by("id").to_pylist()

        assert rows == [{"id": 1, "place": "50%"}, {"id": 2, "place": "ü"}]


class TestWriteCheckpoint:
    def test_replaces_the_commits_before_it(
        self, store: LocalTableStore, tmp_path: Path
    ) -> None:
        state = TableState()
        kept, gone = (
            write_data_file(
                store,
                pa.table({"id": [number]}),
                file_name=f"{number}.parquet",
                modification_time=9,
                partition_values={"place": "a"},
            )
            for number in range(2)
        )
        commits = [
            created(),
            [kept.add(), gone.add()],
            [gone.remove(deletion_timestamp=2**52)],
        ]
        for version, actions in enumerate(commits):
            write_commit(store, version, actions)
            state.apply(actions)
        write_checkpoint(store, 2, state)
        log = tmp_path / "_delta_log"
        for version in range(2):
            (log / f"{version:020d}.json").unlink()

        rows = PeerTable(tmp_path).to_pyarrow_table().to_pylist()
        checkpoint = pq.read_table(log / f"{2:020d}.checkpoint.parquet")

        assert rows == [{"id": 0, "place": "a"}]
        assert checkpoint.num_rows == 4
        assert json.loads((log / "_last_checkpoint").read_text()) == {
            "version": 2,
            "size": 4,
        }
