"""The rules of reconciliation beyond the model of `test_replay_property.py`."""

import json

import pyarrow as pa
import pytest

from deltaweb.delta.errors import LogCorruptError, MissingActionError
from deltaweb.delta.log.blocks import KeySet, SelectedBlock
from deltaweb.delta.log.replay import last_rows
from tests.support import cases
from tests.support.logs.delta_logs import LogBuilder, add, metadata, remove


def paths(builder: LogBuilder, version: int | None = None) -> list[str]:
    return sorted(builder.table.snapshot(version).files["path"].to_pylist())


@pytest.mark.parametrize("is_text", [True, False])
def test_statistics_may_be_text_or_an_object(*, is_text: bool) -> None:
    given = {"numRecords": 3, "minValues": {"id": 2**53 + 1}}
    stats = json.dumps(given) if is_text else given
    builder = LogBuilder().start(add("a")).commit(1, add("b", stats=stats))

    (block,) = builder.table.snapshot().state.blocks

    texts = block.statistics().json_text
    assert texts is not None
    found = [None if text is None else json.loads(text) for text in texts.to_pylist()]
    assert found == [None, given]


def test_a_later_remove_hides_the_file_and_is_a_tombstone() -> None:
    builder = LogBuilder().start(add("a"), add("b"))
    builder.commit(1, remove("a", deletionTimestamp=5, size=7, dataChange=False))

    snapshot = builder.table.snapshot()

    assert snapshot.files["path"].to_pylist() == ["b"]
    assert snapshot.tombstones.to_pylist() == [
        {
            "path": "a",
            "deletion_timestamp": 5,
            "data_change": False,
            "size": 7,
            "dv_id": None,
        }
    ]


def test_paths_are_compared_as_the_log_spells_them() -> None:
    builder = LogBuilder().start(add("a%20b")).commit(1, remove("a b"))

    assert paths(builder) == ["a%20b"]


@pytest.mark.parametrize(
    "spelling",
    ["file:/p/a", "file:///p/a", "/p/a", "FILE:///p/a", "file://LocalHost/p/a"],
)
def test_an_absolute_path_has_one_meaning_in_any_spelling(spelling: str) -> None:
    start = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, metadata()]
    log = LogBuilder().start(add("/p/a"), add("b")).commit(1, remove(spelling))
    behind = LogBuilder().checkpoint(0, *start, add("file:/p/a"), add("b"))
    behind.commit(1, remove(spelling))

    assert paths(log) == paths(behind) == ["b"]


def test_a_path_of_another_machine_is_another_path() -> None:
    builder = LogBuilder().start(add("file://p/a")).commit(1, remove("/p/a"))

    assert paths(builder) == ["file://p/a"]


def test_unknown_actions_and_fields_are_ignored() -> None:
    builder = LogBuilder().start(add("a", baseRowId=5, newField={"x": []}))
    builder.commit(1, {"cdc": {"path": "x", "size": 1}}, {"domainMetadata": {}}, {})

    assert paths(builder) == ["a"]


def test_a_missing_time_of_deletion_is_zero() -> None:
    builder = LogBuilder().start().commit(1, {"remove": {"path": "a"}})

    (row,) = builder.table.snapshot().tombstones.to_pylist()

    assert row["deletion_timestamp"] == 0


def test_partition_columns_may_change() -> None:
    builder = LogBuilder().start(
        add("a", partitionValues={"p": "1"}), partitionColumns=["p"]
    )
    builder.commit(
        1,
        remove("a"),
        add("b", partitionValues={"q": "2"}),
        metadata(partitionColumns=["q"]),
    )
    builder.commit(2, add("c", partitionValues={"q": None}), add("d"))

    values = {
        row["path"]: row["partition_values"]
        for row in builder.table.snapshot().files.to_pylist()
    }

    assert values == {"b": [("q", "2")], "c": [("q", None)], "d": [("q", None)]}
    (first,) = builder.table.snapshot(0).files.to_pylist()
    assert first["partition_values"] == [("p", "1")]


def test_partition_columns_may_change_between_batches_of_commits() -> None:
    filler = {"commitInfo": {"x": "y" * (20 << 20)}}
    builder = LogBuilder().start(
        add("a", partitionValues={"p": "1"}), filler, partitionColumns=["p"]
    )
    builder.commit(1, filler, add("b", partitionValues={"p": "2"}))
    builder.commit(2, metadata(partitionColumns=["q"]), add("c", partitionValues={}))

    values = {
        row["path"]: row["partition_values"]
        for row in builder.table.snapshot().files.to_pylist()
    }

    assert values["b"] == [("p", "2"), ("q", None)]
    assert values["c"] == [("q", None)]


def test_a_table_of_no_partitions_has_empty_values() -> None:
    (row,) = LogBuilder().start(add("a")).table.snapshot().files.to_pylist()

    assert row["partition_values"] == []


@pytest.mark.parametrize("kind", ["metaData", "protocol"])
def test_a_log_without_a_head_is_refused(kind: str) -> None:
    builder = LogBuilder().start(add("a"))
    lines = builder.store.read("00000000000000000000.json").splitlines(keepends=True)
    builder.raw_commit(0, b"".join(line for line in lines if kind.encode() not in line))

    with pytest.raises(MissingActionError) as caught:
        builder.table.snapshot()

    assert kind in caught.value.message


def test_two_file_actions_in_a_line_are_refused() -> None:
    builder = LogBuilder().start({**add("a"), **remove("b")})

    with pytest.raises(LogCorruptError, match="two file actions"):
        builder.table.snapshot()


def test_the_last_row_of_each_key_is_found() -> None:
    keys = pa.array(["a", "b", "a", "c", "b", "a"])

    assert last_rows(keys).tolist() == [3, 4, 5]
    assert last_rows(pa.array([], pa.string())).tolist() == []


@cases(
    "is_live, is_shared",
    {
        "nearly all, together": ([False] + [True] * 9, True),
        "with a hole": ([True] * 4 + [False] + [True] * 5, False),
        "a few, together": ([False] * 8 + [True] * 2, False),
        "none": ([False] * 10, False),
    },
)
def test_live_rows_share_memory_only_where_little_else_is_held(*, is_live, is_shared):
    snapshot = LogBuilder().start(*map(add, "abcdefghij")).table.snapshot()
    (whole,) = snapshot.state.blocks

    live = SelectedBlock(whole.block, pa.array(is_live)).compact()

    before, after = whole.block.files["path"], live.block.files["path"]
    assert live.mask is None
    assert after.to_pylist() == [
        path for path, kept in zip(before.to_pylist(), is_live, strict=True) if kept
    ]
    shares = before.buffers()[2].address == after.buffers()[2].address
    assert shares is is_shared


def test_a_set_of_keys_knows_its_own() -> None:
    keys = KeySet(pa.array(["a", "b"]))

    assert len(keys) == 2
    assert keys.contains(pa.array(["b", "c"])).to_pylist() == [True, False]
    assert not len(KeySet(pa.array([], pa.string())))
