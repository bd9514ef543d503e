"""Checkpoints whose file actions are in files of their own."""

from pathlib import Path

import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.checkpoints.sidecars import log_size_bytes
from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.delta.log.segment import load_log_segment
from deltaweb.table import DeltaTable
from tests.support import by_turns, cases
from tests.support.logs.delta_logs import (
    Action,
    LogBuilder,
    add,
    metadata,
    of_version,
    protocol,
    remove,
    sidecar,
    txn,
    uuid_checkpoint_name,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_checkpoints_are_read")]

FEATURES = {"readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}
HEAD: list[Action] = [protocol(3, 7, **FEATURES), metadata(), txn("app", 4)]
NAMES = {
    "JSON": uuid_checkpoint_name(5, "json"),
    "Parquet": uuid_checkpoint_name(5, "parquet"),
    "of a classic name": checkpoint_name(5),
}


def paths(log: LogBuilder, version: int | None = None) -> list[str]:
    files: list[str] = log.table.snapshot(version).files["path"].to_pylist()
    return sorted(files)


def two_sidecars() -> LogBuilder:
    log = LogBuilder().sidecar("one.parquet", add("a"), add("b"), remove("gone"))
    return log.sidecar("t%20wo.parquet", *map(add, "cdef"))


@cases("name", NAMES)
class TestActions:
    def test_are_those_of_its_sidecars(self, name: str) -> None:
        log = two_sidecars().manifest(
            name,
            of_version(5),
            *HEAD,
            sidecar("one.parquet"),
            sidecar("t%2520wo.parquet"),
        )
        log.commit(6, remove("c"), add("g"))

        snapshot = log.table.snapshot()

        assert sorted(snapshot.files["path"].to_pylist()) == list("abdefg")
        assert snapshot.tombstones["path"].to_pylist() == ["gone", "c"]
        assert snapshot.transactions["app"].version == 4
        assert paths(log, 5) == list("abcdef")

    def test_may_be_its_own(self, name: str) -> None:
        vector = {"storageType": "u", "pathOrInlineDv": "x", "offset": 1}
        file = add("a", partitionValues={"p": "x"}, tags={"t": "u"}, stats="{}")
        log = LogBuilder().manifest(
            name, of_version(5), *HEAD, file, remove("b", deletionVector=vector)
        )

        (row,) = log.table.snapshot().files.to_pylist()

        assert row["partition_values"] == [("p", "x")]
        assert log.table.snapshot().tombstones["dv_id"].to_pylist() == ["ux@1"]

    def test_may_be_none(self, name: str) -> None:
        log = LogBuilder().manifest(name, of_version(5), *HEAD)

        assert log.table.snapshot().num_files == 0


BROKEN: dict[str, tuple[list[Action], str]] = {
    "missing": ([sidecar("gone.parquet")], "does not exist"),
    "above": ([sidecar("../one.parquet")], "folder of sidecars"),
    "above, escaped": ([sidecar("%2E%2E/x")], "folder of sidecars"),
    "absolute": ([sidecar("/etc/passwd")], "folder of sidecars"),
    "a folder": ([sidecar("..")], "folder of sidecars"),
    "a NUL": ([sidecar("a%00b")], "folder of sidecars"),
    "named twice": ([sidecar("one.parquet")] * 2, "twice"),
    "a loop": ([sidecar("loop.parquet")], "lists sidecars itself"),
    "torn": ([sidecar("torn.parquet")], "not a readable"),
    "both kinds": ([add("x"), sidecar("one.parquet")], "file actions and sidecars"),
}


class TestFault:
    @by_turns({"actions, reason": BROKEN, "name": NAMES})
    def test_of_a_sidecar_is_one_of_the_checkpoint(self, name, actions, reason):
        log = LogBuilder().sidecar("one.parquet", add("a"))
        log.sidecar("loop.parquet", add("a"), sidecar("loop.parquet"))
        log.store.put("_sidecars/torn.parquet", b"PAR1")
        log.manifest(name, of_version(5), *HEAD, *actions)

        with pytest.raises(LogCorruptError, match=reason):
            log.table.snapshot()

    @pytest.mark.parametrize(
        "said",
        [[], [of_version(5), of_version(5)], [of_version(4)]],
        ids=["nothing", "twice", "another version"],
    )
    @pytest.mark.parametrize("kind", ["json", "parquet"])
    def test_is_what_it_says_of_itself(self, kind: str, said: list[Action]) -> None:
        log = LogBuilder().manifest(uuid_checkpoint_name(5, kind), *said, *HEAD)

        with pytest.raises(LogCorruptError, match=r"checkpointMetadata|version 4"):
            log.table.snapshot()

    def test_leads_to_an_older_checkpoint(self) -> None:
        log = LogBuilder().checkpoint(3, *HEAD, add("a")).commit(4, add("b"))
        log.manifest(
            uuid_checkpoint_name(5), of_version(5), *HEAD, sidecar("gone.parquet")
        )
        log.commit(5, add("c"))

        assert paths(log) == ["a", "b", "c"]

    def test_leads_to_another_one_of_the_version(self) -> None:
        log = LogBuilder().checkpoint(5, *HEAD, add("a"))
        log.manifest(uuid_checkpoint_name(5), *HEAD, add("wrong"))

        assert paths(log) == ["a"]


class TestPlace:
    @pytest.mark.parametrize("prefix", ["", "file://", "file:"])
    def test_may_be_written_out(self, tmp_path: Path, prefix: str) -> None:
        root = tmp_path / "table"
        log = LogBuilder().sidecar("one.parquet", add("a"))
        path = f"{prefix}{root}/_delta_log/_sidecars/one.parquet"
        log.manifest(uuid_checkpoint_name(5), of_version(5), *HEAD, sidecar(path))

        table = DeltaTable(str(log.on_disk(root)))

        assert table.snapshot().files["path"].to_pylist() == ["a"]

    @pytest.mark.parametrize("is_folder", [True, False])
    def test_that_is_a_link_out_of_the_table_is_a_fault(self, tmp_path, *, is_folder):
        log = LogBuilder().sidecar("one.parquet", add("a"))
        log.manifest(
            uuid_checkpoint_name(5), of_version(5), *HEAD, sidecar("one.parquet")
        )
        folder = log.on_disk(tmp_path / "table") / "_delta_log" / "_sidecars"
        place = folder if is_folder else folder / "one.parquet"
        place.rename(tmp_path / "outside")
        place.symlink_to(tmp_path / "outside")

        with pytest.raises(LogCorruptError, match="outside the table"):
            DeltaTable(str(tmp_path / "table")).snapshot()


def test_the_size_of_a_log_is_that_of_its_sidecars_too() -> None:
    log = two_sidecars().commit(6, add("x"))
    log.manifest(uuid_checkpoint_name(5), of_version(5), *HEAD, sidecar("one.parquet"))
    segment = load_log_segment(log.store)

    plain = segment.size_bytes(log.store)

    assert log_size_bytes(log.store, segment) == plain + 9
