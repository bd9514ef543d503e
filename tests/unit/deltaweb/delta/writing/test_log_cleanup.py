import json
from datetime import UTC, datetime, timedelta

import pytest

from deltaweb.delta.errors import (
    DeltaError,
    LogGapError,
    PropertyError,
    TableNotFoundError,
    UnsupportedWriterFeatureError,
)
from deltaweb.delta.log.paths import checkpoint_name, checkpoint_part_names, commit_name
from deltaweb.delta.writing.log_cleanup import LogCleanup
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.logs.delta_logs import (
    LogBuilder,
    add,
    metadata,
    protocol,
    remove,
    uuid_checkpoint_name,
)
from tests.support.stores.memory import MemoryTableStore

pytestmark = pytest.mark.slow

DAY_MS = 86_400_000
NOW = datetime(2026, 3, 31, 18, 30, tzinfo=UTC)
# 30 days before NOW is 1 March; what was made before its midnight has expired.
FIRST_OF_MARCH_MS = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp() * 1000)


def daily_log(*, expired, kept, checkpoints, **fields):
    """One commit a day: so many before the first of March, and from it on."""
    log = LogBuilder().start(add("f0"), **fields)
    for version in range(1, expired + kept):
        log.commit(version, add(f"f{version}"))
    for version in range(expired + kept):
        log.time(version, FIRST_OF_MARCH_MS + (version - expired) * DAY_MS)
    for version in checkpoints:
        log.table.create_checkpoint(version, now=NOW)
    for name in log.store.log_files:
        log.store.modification_times.setdefault(name, FIRST_OF_MARCH_MS - DAY_MS)
    return log


def files_of(log: LogBuilder, version: int) -> list[str]:
    return sorted(log.table.snapshot(version).files["path"].to_pylist())


class TestWhatStays:
    def test_is_the_newest_checkpoint_at_the_cut_and_all_that_is_later(self) -> None:
        log = daily_log(expired=10, kept=5, checkpoints=(2, 6, 8, 11))
        before = {version: files_of(log, version) for version in range(8, 15)}

        cleaned = log.table.clean_up_log(now=NOW)

        assert cleaned.checkpoint_version == 8
        assert cleaned.cutoff == datetime(2026, 3, 1, tzinfo=UTC)
        assert sorted(log.store.log_files) == [
            checkpoint_name(8),
            commit_name(8),
            *(commit_name(version) for version in (9, 10)),
            checkpoint_name(11),
            *(commit_name(version) for version in range(11, 15)),
            "_last_checkpoint",
        ]
        for version, files in before.items():
            assert files_of(log, version) == files

    @cases(
        "expired, checkpoints, kept_version",
        {
            "nothing has expired": (0, (2, 6), None),
            "there is no checkpoint": (10, (), None),
            "each checkpoint is after the cut": (5, (6, 8), None),
            "the checkpoint is the first after the cut": (5, (5,), None),
            "the checkpoint is the last before the cut": (5, (4,), 4),
            "the checkpoint is the first version": (5, (0,), 0),
            "everything has expired": (10, (3, 9), 9),
        },
    )
    def test_starts_where_the_retention_still_reads(
        self, expired: int, checkpoints: tuple[int, ...], kept_version: int | None
    ) -> None:
        log = daily_log(expired=expired, kept=10 - expired, checkpoints=checkpoints)
        names = set(log.store.log_files)

        cleaned = log.table.clean_up_log(now=NOW)

        assert cleaned.checkpoint_version == kept_version
        gone = names - set(log.store.log_files)
        assert gone == {file.name for file in cleaned.files}
        assert {name for name in gone if name.endswith(".json")} == {
            commit_name(version) for version in range(kept_version or 0)
        }
        assert files_of(log, 9) == sorted(f"f{number}" for number in range(10))

    def test_is_as_long_as_the_table_says(self) -> None:
        retention = {"delta.logRetentionDuration": "interval 2 days"}
        log = daily_log(
            expired=1, kept=31, checkpoints=(5, 25, 30), configuration=retention
        )

        assert log.table.clean_up_log(now=NOW).checkpoint_version == 25

    def test_does_not_depend_on_the_hour(self) -> None:
        log = daily_log(expired=5, kept=5, checkpoints=(4,))
        late = NOW.replace(hour=0, minute=0) + timedelta(hours=23, minutes=59)

        cleaned = [
            log.table.clean_up_log(now=now, is_dry_run=True)
            for now in (NOW.replace(hour=0, minute=0), late)
        ]

        assert cleaned[0] == cleaned[1]

    def test_includes_a_commit_that_goes_back_in_time(self) -> None:
        log = daily_log(expired=5, kept=5, checkpoints=(7,))
        log.time(8, FIRST_OF_MARCH_MS - 9 * DAY_MS)

        assert log.table.clean_up_log(now=NOW).files == []

    def test_includes_what_is_nobodys_business(self) -> None:
        log = daily_log(expired=5, kept=5, checkpoints=(4,))
        strangers = ["0.json", ".00000000000000000000.json.crc", "_commits", "a.tmp"]
        for name in strangers:
            log.store.put(name, b"")

        log.table.clean_up_log(now=NOW)

        assert set(strangers) <= set(log.store.log_files)


class TestWhatGoes:
    def test_has_the_extras_of_other_engines_too(self) -> None:
        log = daily_log(expired=5, kept=5, checkpoints=(4,))
        gone = [
            "00000000000000000003.crc",
            "00000000000000000000.00000000000000000003.compacted.json",
            checkpoint_part_names(2, 3)[1],
        ]
        stays = [
            "00000000000000000004.crc",
            "00000000000000000002.00000000000000000006.compacted.json",
        ]
        for name in [*gone, *stays]:
            log.store.put(name, b"")

        cleaned = log.table.clean_up_log(now=NOW)

        assert {file.name for file in cleaned.files} >= set(gone)
        assert set(stays) <= set(log.store.log_files)

    def test_is_only_listed_by_a_dry_run(self) -> None:
        log = daily_log(expired=5, kept=5, checkpoints=(4,))
        before = dict(log.store.log_files)

        dry = log.table.clean_up_log(now=NOW, is_dry_run=True)

        assert log.store.log_files == before
        assert (dry.is_done, dry.checkpoint_version) == (False, 4)
        assert [file.name for file in dry.files] == [commit_name(v) for v in range(4)]
        assert dry.size_bytes == sum(len(before[commit_name(v)]) for v in range(4))
        done = log.table.clean_up_log(now=NOW)
        assert (done.is_done, list(done.files)) == (True, list(dry.files))

    def test_goes_oldest_first_so_that_an_interruption_does_no_harm(self) -> None:
        log = daily_log(expired=8, kept=3, checkpoints=(3, 7))
        expected = files_of(log, 10)
        versions: list[int] = []

        def interrupt(done: int, _total: int) -> None:
            versions.append(done)
            fresh = DeltaTable.from_store(log.store)
            newest = sorted(fresh.snapshot().files["path"].to_pylist())
            assert newest == expected
            assert fresh.snapshot(7).num_files == 8
            if done == 5:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            log.table.clean_up_log(now=NOW, on_progress=interrupt)

        assert versions == [1, 2, 3, 4, 5]
        assert commit_name(3) not in log.store.log_files
        assert commit_name(4) in log.store.log_files
        log.table.clean_up_log(now=NOW)
        assert commit_name(6) not in log.store.log_files
        assert files_of(log, 10) == expected

    def test_is_told_before_any_of_it_goes(self) -> None:
        log = daily_log(expired=5, kept=5, checkpoints=(4,))
        before = dict(log.store.log_files)

        def refuse(found: LogCleanup) -> None:
            assert (found.checkpoint_version, len(found.files)) == (4, 4)
            assert not found.is_done
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            log.table.clean_up_log(now=NOW, on_found=refuse)

        assert log.store.log_files == before

    def test_may_be_taken_by_another_clean_up(self) -> None:
        log = daily_log(expired=5, kept=5, checkpoints=(4,))

        def take(done: int, _total: int) -> None:
            if done == 1:
                log.delete(commit_name(2))

        assert len(log.table.clean_up_log(now=NOW, on_progress=take).files) == 4


class TestTheHint:
    def test_never_names_a_checkpoint_that_goes(self) -> None:
        log = daily_log(expired=8, kept=3, checkpoints=(3, 7))
        log.hint(b'{"version":3,"size":6}')

        log.table.clean_up_log(now=NOW)

        hint = json.loads(log.store.log_files["_last_checkpoint"])
        hint.pop("checksum")
        assert hint == {"version": 7, "size": 10}

    def test_tells_the_parts_of_the_one_that_stays(self) -> None:
        log = daily_log(expired=8, kept=3, checkpoints=(3,))
        log.table.create_checkpoint(7, parts=2, now=NOW)
        log.hint(b'{"version":3,"size":6}')

        log.table.clean_up_log(now=NOW)

        hint = json.loads(log.store.log_files["_last_checkpoint"])
        hint.pop("checksum")
        assert hint == {"version": 7, "size": 10, "parts": 2}

    @pytest.mark.parametrize("hint", [b'{"version":9,"size":1}', b"torn"])
    def test_that_names_nothing_that_goes_stays(self, hint: bytes) -> None:
        log = daily_log(expired=8, kept=3, checkpoints=(7, 9)).hint(hint)

        log.table.clean_up_log(now=NOW)

        assert log.store.log_files["_last_checkpoint"] == hint

    def test_that_names_nothing_at_all_names_what_stays(self) -> None:
        log = daily_log(expired=8, kept=3, checkpoints=(7,))
        log.hint(b'{"version":30,"size":1}')

        log.table.clean_up_log(now=NOW)

        hint = json.loads(log.store.log_files["_last_checkpoint"])
        hint.pop("checksum")
        assert hint == {"version": 7, "size": 10}


class TestACheckpointThatIsNotToBeTrusted:
    def test_is_passed_over_where_it_does_not_read(self) -> None:
        log = daily_log(expired=8, kept=3, checkpoints=(3, 7))
        log.store.put(checkpoint_name(7), log.store.log_files[checkpoint_name(7)][:-9])

        assert log.table.clean_up_log(now=NOW).checkpoint_version == 3

    def test_is_passed_over_where_its_commit_is_gone(self) -> None:
        log = daily_log(expired=8, kept=3, checkpoints=(3, 7)).delete(commit_name(7))

        cleaned = log.table.clean_up_log(now=NOW)

        assert cleaned.checkpoint_version is None
        assert cleaned.files == []

    def test_is_no_checkpoint_where_a_part_is_missing(self) -> None:
        log = daily_log(expired=8, kept=3, checkpoints=(3,))
        log.table.create_checkpoint(7, parts=3, now=NOW)
        log.delete(checkpoint_part_names(7, 3)[2])

        assert log.table.clean_up_log(now=NOW).checkpoint_version == 3


class TestRefusals:
    @pytest.mark.parametrize(
        "feature", ["checkpointProtection", "tableTeleport", "icebergCompatV9"]
    )
    def test_name_the_feature(self, feature: str) -> None:
        log = LogBuilder().commit(
            0, protocol(1, 7, writerFeatures=[feature]), metadata()
        )

        with pytest.raises(UnsupportedWriterFeatureError, match=feature) as caught:
            log.table.clean_up_log(now=NOW)

        assert "clean-up" in caught.value.message

    def test_name_a_protection_of_older_versions_whatever_the_newest_one_is(self):
        bound = {"delta.requireCheckpointProtectionBeforeVersion": "0"}
        listed = protocol(1, 7, writerFeatures=["checkpointProtection"])
        log = LogBuilder().commit(0, listed, metadata(configuration=bound))

        log.table.create_checkpoint(now=NOW)
        with pytest.raises(UnsupportedWriterFeatureError, match="checkpointProt"):
            log.table.clean_up_log(now=NOW)

    def test_a_log_that_is_broken_keeps_all(self) -> None:
        log = daily_log(expired=8, kept=3, checkpoints=(3,)).delete(commit_name(9))
        names = set(log.store.log_files)

        with pytest.raises(LogGapError):
            log.table.clean_up_log(now=NOW)

        assert set(log.store.log_files) == names

    @pytest.mark.parametrize("text", ["interval 1 month", "soon", ""])
    def test_a_retention_without_a_length_is_named(self, text: str) -> None:
        retention = {"delta.logRetentionDuration": text}
        log = daily_log(expired=5, kept=2, checkpoints=(4,), configuration=retention)

        with pytest.raises(PropertyError, match="logRetentionDuration"):
            log.table.clean_up_log(now=NOW)

    def test_no_log_is_no_table(self) -> None:
        store = MemoryTableStore()
        store.data_files["x"] = b""

        with pytest.raises(TableNotFoundError):
            DeltaTable.from_store(store).clean_up_log(now=NOW)

    def test_a_retention_beyond_all_time_keeps_all(self) -> None:
        retention = {"delta.logRetentionDuration": "interval 99999999999 weeks"}
        log = daily_log(expired=5, kept=2, checkpoints=(4,), configuration=retention)

        assert log.table.clean_up_log(now=NOW).files == []


def test_a_cleaned_log_can_have_further_checkpoints() -> None:
    log = daily_log(expired=8, kept=3, checkpoints=(7,))
    log.table.clean_up_log(now=NOW)
    log.commit(11, remove("f1"))

    written = log.table.create_checkpoint(now=NOW)

    assert written.num_files == 10
    with pytest.raises(DeltaError):
        log.table.snapshot(6)


class TestSidecars:
    @pytest.fixture
    def log(self) -> LogBuilder:
        features = {"readerFeatures": ["v2Checkpoint"]}
        log = daily_log(expired=8, kept=3, checkpoints=())
        log.commit(
            0,
            protocol(3, 7, **features, writerFeatures=["v2Checkpoint"]),
            metadata(),
            add("f0"),
        )
        for version in (3, 7, 9):
            log.table.create_checkpoint(version, parts=2, now=NOW)
        for name in log.store.log_files:
            log.store.modification_times.setdefault(name, FIRST_OF_MARCH_MS - DAY_MS)
        log.time(0, FIRST_OF_MARCH_MS - 8 * DAY_MS)
        return log

    def test_that_a_checkpoint_names_which_stays_do_too(self, log: LogBuilder) -> None:
        log.store.put("_sidecars/orphan.parquet", b"x")

        log.table.clean_up_log(now=NOW)

        kept = [name for name in log.store.log_files if name.startswith("_sidecars/")]
        assert len(kept) == 4
        assert files_of(log, 8) == sorted(f"f{number}" for number in range(9))

    def test_that_are_young_stay(self, log: LogBuilder) -> None:
        young = "_sidecars/in-the-making.parquet"
        log.store.put(young, b"x")
        log.store.modification_times[young] = int(NOW.timestamp() * 1000) - DAY_MS

        log.table.clean_up_log(now=NOW)

        assert young in log.store.log_files

    def test_all_stay_where_a_checkpoint_does_not_tell(self, log: LogBuilder) -> None:
        log.store.put("_sidecars/orphan.parquet", b"x")
        log.store.put(uuid_checkpoint_name(10), b"torn")

        log.table.clean_up_log(now=NOW)

        assert "_sidecars/orphan.parquet" in log.store.log_files
