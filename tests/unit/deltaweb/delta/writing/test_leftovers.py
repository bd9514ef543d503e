"""Temporary files of killed writers leave a log with what has expired."""

from datetime import UTC, datetime

from deltaweb.delta.log.paths import checkpoint_name, commit_name
from tests.support.logs.delta_logs import LogBuilder, add, uuid_checkpoint_name

DAY_MS = 86_400_000
NOW = datetime(2026, 3, 31, 18, 30, tzinfo=UTC)


class TestWhatKilledWritersLeft:
    UUID = "0a1b2c3d-0000-4000-8000-0123456789ab"
    NAMES = (
        f".{commit_name(9)}.abcd_fgh.tmp",
        "._last_checkpoint.abcdefgh.tmp",
        f".{commit_name(9)}.{UUID}.tmp",
        f"..{commit_name(9)}.{UUID}.tmp.crc",
        f".{checkpoint_name(8)}.{UUID}.tmp",
        f".{uuid_checkpoint_name(8)}.abcdefgh.tmp",
        f"_commit_{UUID}.json.tmp",
    )

    def left(self, *, days: float) -> LogBuilder:
        log = LogBuilder().start(add("f0"))
        log.time(0, int(NOW.timestamp() * 1000))
        age_ms = int(days * DAY_MS)
        for name in self.NAMES:
            log.store.put(name, b"{")
            log.store.modification_times[name] = int(NOW.timestamp() * 1000) - age_ms
        return log

    def test_goes_once_it_is_old(self) -> None:
        log = self.left(days=2)

        planned = log.table.clean_up_log(now=NOW, is_dry_run=True)
        log.table.clean_up_log(now=NOW)

        assert {file.name for file in planned.files} == {*self.NAMES}
        assert not {*log.store.log_files} & {*self.NAMES}
        assert log.table.latest_version() == 0

    def test_stays_while_a_writer_may_live(self) -> None:
        log = self.left(days=0.5)

        assert log.table.clean_up_log(now=NOW).files == []
        assert {*log.store.log_files} > {*self.NAMES}

    def test_is_no_file_of_anybody_else(self) -> None:
        log = self.left(days=9)
        others = [".notes.tmp", "_commit_x.json.tmp", f"{commit_name(9)}.bak"]
        for name in others:
            log.store.put(name, b"")
            log.store.modification_times[name] = 0

        log.table.clean_up_log(now=NOW)

        assert {*log.store.log_files} > {*others}
