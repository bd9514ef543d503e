"""Whatever a table's index lacks, its answers are those of the log."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.delta.scan.predicate import Comparison, IsNull, Predicate
from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from tests.support import cases
from tests.support.logs.delta_logs import add, metadata, protocol, remove
from tests.support.logs.local_logs import LocalLog, RandomLog, stats_of, typed_schema
from tests.support.pages.shared_tables import hint, signed

pytestmark = pytest.mark.slow


def both(log: LocalLog, index: Path) -> list[SharedVersion]:
    """Open the newest version by the index, and by the log."""
    opened = [
        SharedTableReader().open_version(log.table, index_folder=folder)
        for folder in (index, None)
    ]
    assert opened[0].num_files_in_memory < opened[1].num_files_in_memory
    return opened


def paths(version: SharedVersion, predicate: Predicate) -> list[str]:
    batches = version.select(predicates=[predicate]).batches()
    return sorted(path for batch in batches for path in batch["path"].to_pylist())


def alike(log: LocalLog, index: Path, text: str) -> list[str]:
    """Return the files that a hint leaves, the same in both ways."""
    indexed, replayed = both(log, index)
    predicate = hint(text, indexed.schema)
    found = paths(indexed, predicate)
    assert found == paths(replayed, predicate)
    return found


def file_of(path: str, low: dict[str, Any], high: dict[str, Any]) -> Any:  # noqa: ANN401 (an action)
    return add(path, stats=stats_of(10, low, high))


class TestColumnsThatTheIndexLacks:
    def test_are_judged_by_the_text_of_statistics(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).start(
            file_of("x", {"a": 1, "b": 1}, {"a": 9, "b": 9}),
            file_of("y", {"a": 1, "b": 11}, {"a": 9, "b": 19}),
            schemaString=typed_schema(a="long", b="long"),
            configuration={"delta.dataSkippingNumIndexedCols": "1"},
        )

        assert alike(log, log.index(), "b > 10 AND a > 5") == ["y"]

    def test_came_with_a_later_commit(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).start(
            file_of("x", {"a": 1, "b": 1}, {"a": 9, "b": 9}),
            schemaString=typed_schema(a="long"),
        )
        index = log.index()
        wider = metadata(schemaString=typed_schema(a="long", b="long"))
        log.commit(1, wider, file_of("y", {"a": 1, "b": 5}, {"a": 2, "b": 6}))

        assert alike(log, index, "b > 8") == ["x"]

    @pytest.mark.parametrize("kind", ["string", "integer", "double"])
    def test_are_those_of_another_type_since(self, tmp_path: Path, kind: str) -> None:
        log = LocalLog(tmp_path).start(
            file_of("x", {"a": 1}, {"a": 9}), schemaString=typed_schema(a="long")
        )
        index = log.index()
        log.commit(1, metadata(schemaString=typed_schema(a=kind)), add("y"))

        text = "a = '0'" if kind == "string" else "a = 100"
        assert alike(log, index, text) in (["x", "y"], ["y"])

    def test_have_no_bounds(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).start(
            add("x", stats='{"numRecords":2,"nullCount":{"raw":2}}'),
            add("y", stats='{"numRecords":2,"nullCount":{"raw":0}}'),
            schemaString=typed_schema(raw="binary"),
        )

        assert alike(log, log.index(), "raw IS NOT NULL") == ["y"]
        assert alike(log, log.index(), "raw IS NULL") == ["x"]

    def test_are_nested(self, tmp_path: Path) -> None:
        inner = json.loads(typed_schema(a="long", b="string"))
        outer = {"name": "s", "type": inner, "nullable": True, "metadata": {}}
        log = LocalLog(tmp_path).start(
            file_of("x", {"s": {"a": 1}}, {"s": {"a": 9}}),
            file_of("y", {"s": {"a": 11}}, {"s": {"a": 19}}),
            schemaString=json.dumps({"type": "struct", "fields": [outer]}),
        )
        index = log.index()

        assert alike(log, index, "s.a > 10") == ["y"]
        for one in both(log, index):
            assert paths(one, IsNull(("s",))) == ["x", "y"]

    def test_are_none_of_the_schema(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).start(add("x"))
        value = hint("id = 1", log.table.snapshot().schema)
        assert isinstance(value, Comparison)

        for one in both(log, log.index()):
            assert paths(one, Comparison(("ghost",), "=", value.value)) == ["x"]


class TestHintsThatCannotBeJudged:
    @pytest.mark.parametrize("column", ["id", "p"])
    def test_leave_out_nothing(self, tmp_path: Path, column: str) -> None:
        log = LocalLog(tmp_path).start(
            *(
                add(path, partitionValues={"p": "1"}, stats=stats_of(9, low, high))
                for path, low, high in (
                    ("x", {"id": 1}, {"id": 2}),
                    ("y", {"id": 3}, {"id": 4}),
                )
            ),
            partitionColumns=["p"],
        )
        odd = Comparison((column,), "=", pa.scalar({"no": "number"}))
        fine = hint("id = 2", log.table.snapshot().schema)

        for one in both(log, log.index()):
            assert paths(one, odd) == ["x", "y"]
            assert one.select(predicates=[odd, fine]).num_files == 1


class TestManyBatches:
    @pytest.mark.parametrize("seed", range(3))
    def test_answer_as_one_does(self, tmp_path, seed, monkeypatch):
        monkeypatch.setattr("deltaweb.index.files.file_rows.ROWS_A_BATCH", 4)
        monkeypatch.setattr("deltaweb.index.query.file_selection.ROWS_A_BATCH", 3)
        monkeypatch.setattr("deltaweb.index.query.file_part.BATCH_BYTES", 200)
        log = RandomLog(tmp_path, seed)
        log.grow(6)
        index = log.index()
        log.grow(2)

        for text in ("id < 500", "p = 1 OR name > 'n05'"):
            alike(log, index, text)
        indexed, _ = both(log, index)
        rows = [batch.num_rows for batch in indexed.select().batches()]
        assert max(rows) <= 3
        assert sum(rows) == indexed.num_files


class TestStatisticsOfACheckpoint:
    def test_that_holds_none_leave_every_file(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).start(add("x"))
        log.commit(1, remove("y"))
        log.checkpoint(1, protocol(), metadata(schemaString=typed_schema(id="long")))
        log.commit(2, add("z"))

        assert alike(log, log.index(), "id = 5") == ["z"]


class TestInstantsOfPartitions:
    """Without a zone they are in UTC to the share, and of any zone to a client."""

    SPELLINGS = {
        "zoneless": "2024-03-10 02:00:00",
        "utc": "2024-03-10T02:00:00.000000Z",
        "india": "2024-03-10T07:30:00+05:30",
        "day": "2024-03-10",
        "null": "",
    }

    @pytest.fixture
    def versions(self, tmp_path: Path) -> list[SharedVersion]:
        log = LocalLog(tmp_path).start(
            *[add(k, partitionValues={"ts": v}) for k, v in self.SPELLINGS.items()],
            schemaString=typed_schema(ts="timestamp"),
            partitionColumns=["ts"],
        )
        return both(log, log.index())

    @cases(
        "text, expected",
        {
            "equal": ("ts = '2024-03-10 02:00:00Z'", "day india utc"),
            "later": ("ts > '2024-03-10 02:00:01Z'", "day"),
            "a day before": ("ts < '2024-03-09 02:00:01Z'", "day"),
            "more than a day": ("ts < '2024-03-09 00:00:00Z'", ""),
            "none": ("ts IS NULL", "null"),
        },
    )
    def test_are_within_a_day_to_hints(self, versions, text, expected):
        zoneless = [] if expected in {"", "null"} else ["zoneless"]
        for one in versions:
            found = paths(one, hint(text, one.schema))
            assert found == sorted([*expected.split(), *zoneless])

    def test_are_in_utc_to_the_filter_of_the_share(self, versions: list[SharedVersion]):
        for one in versions:
            condition = SQLCondition("ts < '2024-03-10 02:00:00'", one.schema)
            chosen = signed(one, condition).select()
            assert [b["path"].to_pylist() for b in chosen.batches()] == [["day"]]


class TestFilters:
    def test_of_a_column_called_position(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).start(
            add("x", partitionValues={"position": "1"}),
            add("y", partitionValues={"position": "2"}),
            schemaString=typed_schema(position="integer"),
            partitionColumns=["position"],
        )

        for one in both(log, log.index()):
            condition = SQLCondition("position = 2", one.schema)
            chosen = signed(one, condition).select()
            found = [batch["path"].to_pylist() for batch in chosen.batches()]
            assert found == [["y"]]

    @pytest.mark.parametrize(
        ("text", "count"), [("TRUE", 1), ("FALSE", 0), ("NULL", 0)]
    )
    def test_that_look_at_no_column(self, tmp_path: Path, text: str, count: int):
        log = LocalLog(tmp_path).start(add("x"))

        for one in both(log, log.index()):
            condition = SQLCondition(text, one.schema)
            assert signed(one, condition).select().num_files == count

    def test_of_a_table_that_is_partitioned_otherwise_since(self, tmp_path: Path):
        log = LocalLog(tmp_path).start(
            add("x", partitionValues={"p": "1"}), partitionColumns=["p"]
        )
        index = log.index()
        log.commit(1, metadata(schemaString=typed_schema(p="integer")))

        for one in both(log, index):
            condition = SQLCondition("p = 1", one.schema)
            assert signed(one, condition).select().num_files == 0


class TestOddTables:
    def test_a_schema_that_does_not_parse_is_told(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).start(add("x"), schemaString="{torn")

        for one in both(log, log.index()):
            assert one.select().num_files == 1
            with pytest.raises(SchemaError):
                _ = one.schema

    def test_partition_columns_of_a_nested_type_tell_nothing(self, tmp_path: Path):
        inner = json.loads(typed_schema(a="long"))
        outer = {"name": "s", "type": inner, "nullable": True, "metadata": {}}
        log = LocalLog(tmp_path).start(
            add("x", partitionValues={"s": "1"}),
            schemaString=json.dumps({"type": "struct", "fields": [outer]}),
            partitionColumns=["s"],
        )

        for one in both(log, log.index()):
            assert paths(one, IsNull(("s",))) == ["x"]

    def test_texts_of_partitions_are_no_strings_of_theirs(self, tmp_path: Path) -> None:
        columns = typed_schema(p="integer", q="string")
        log = LocalLog(tmp_path).start(
            add("x", partitionValues={"p": "one", "q": ""}),
            add("y", partitionValues={"p": "1", "q": "b"}),
            schemaString=columns,
            partitionColumns=["p", "q"],
        )

        assert alike(log, log.index(), "q IS NULL") == ["x"]
        schema = parse_schema(columns)
        for one in both(log, log.index()):
            condition = SQLCondition("q = ''", schema)
            assert signed(one, condition).select().num_files == 0

    def test_an_empty_table_offers_nothing(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).start()

        opened = SharedTableReader().open_version(log.table, index_folder=log.index())

        chosen = opened.select(limit=5)
        assert (chosen.num_files, chosen.size_bytes, chosen.outside) == (0, 0, None)
        assert list(chosen.batches()) == []


class TestMemory:
    def test_a_mapping_is_given_back_after_its_rows(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).start(
            *(add(f"f{n}", stats="x" * 1000) for n in range(5000))
        )
        opened = SharedTableReader().open_version(log.table, index_folder=log.index())
        batches = list(opened.select().batches())

        assert sum(batch.num_rows for batch in batches) == 5000
        assert resident_kib(tmp_path) == 0


def resident_kib(folder: Path) -> int:
    """Return how much of its index this process holds, by the kernel's own account."""
    text = Path("/proc/self/smaps").read_text(encoding="utf-8")
    total, is_index, is_mapped = 0, False, False
    for line in text.splitlines():
        if "-" in line.split(" ")[0]:
            is_index = str(folder) in line and line.endswith("files.arrow")
            is_mapped |= is_index
        elif is_index and line.startswith("Rss:"):
            total += int(line.split()[1])
    assert is_mapped
    return total
