"""The room for the copies of a share: what stays, what is erased, and what fails."""

from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pytest_django.fixtures import Settings

from apps.jobs.running.reports import Reports
from apps.sharing.access.grants.plain_cost import PlainCost
from apps.sharing.access.grants.preparing import PreparedTable, prepare_share
from apps.sharing.access.grants.room import expire
from apps.sharing.errors import NotPreparedError
from apps.sharing.models import PreparedFile, Share, SharedTable
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)
from tests.support.pages.prepared_files import (
    new_prepared_changes,
    new_prepared_file,
    stored_files,
)

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
VECTORS = {"delta.enableDeletionVectors": "true"}
ROWS = pa.table({"id": pa.array(range(2_000), pa.int64())})


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, settings: Settings) -> None:
    settings.HOME = tmp_path / "home"
    settings.PREPARED_FILES = f"{tmp_path}/prepared/"


@pytest.fixture
def shared(db: None) -> SharedTable:  # noqa: ARG001 (a database)
    return new_shared_table()


def known() -> set[str]:
    """The keys of the files that the database knows."""
    return set(PreparedFile.objects.values_list("key", flat=True))


class TestExpiring:
    @pytest.fixture
    def share(self, shared: SharedTable, settings: Settings) -> Share:
        settings.PREPARED_DAYS = 30
        settings.PREPARED_BYTES = 1_000
        return shared.share

    def test_takes_what_was_not_asked_for_in_many_days(self, share, shared) -> None:
        second = new_shared_table(share, "crm.second")
        elsewhere = new_shared_table(new_share("other"), "crm.other")
        new_prepared_file(shared, "used", last_used_at=NOW - 30 * DAY)
        for table, key in ((shared, "a"), (second, "b"), (elsewhere, "c")):
            new_prepared_file(table, key, last_used_at=NOW - 30 * DAY - HOUR)

        assert len(expire(share, now=NOW)) == 2

        assert known() == {"used", "c"}
        assert stored_files(shared) == {"used"}
        assert stored_files(second) == set()

    @cases(
        "most, kept",
        {
            "all fit": (600, "123abc"),
            "one byte too many": (599, "23abc"),
            "one too many": (500, "23abc"),
            "changes first": (350, "abc"),
            "then those used long ago": (250, "bc"),
            "nothing fits": (0, ""),
        },
    )
    def test_takes_changes_first_then_what_was_used_long_ago(
        self, share: Share, shared: SharedTable, settings: Settings, most: int, kept
    ) -> None:
        settings.PREPARED_BYTES = most
        for key, days in {"c": 1, "a": 3, "b": 2}.items():
            new_prepared_file(shared, key, last_used_at=NOW - days * DAY)
        for version in (3, 1, 2):  # the newest one was used long ago
            new_prepared_file(
                shared,
                str(version),
                changes=new_prepared_changes(shared, version),
                last_used_at=NOW - version * DAY,
            )

        found = expire(share, now=NOW)

        assert known() == stored_files(shared) == set(kept)
        assert len(found) == 6 - len(kept)

    def test_counts_what_is_gone_already_to_no_bound(self, share, shared, settings):
        settings.PREPARED_BYTES = 100
        new_prepared_file(shared, "old", last_used_at=NOW - 40 * DAY, size_bytes=900)
        new_prepared_file(shared, "new")

        assert len(expire(share, now=NOW)) == 1
        assert known() == {"new"}

    def test_bounds_each_share_by_itself(self, share, shared, settings) -> None:
        settings.PREPARED_BYTES = 100
        other = new_shared_table(new_share("other"), "crm.other")
        new_prepared_file(shared, "a")
        new_prepared_file(other, "b")

        assert len(expire(share, now=NOW)) == 0
        assert known() == {"a", "b"}


class TestTwoTables:
    """Of two tables with a copy each, there is room for one."""

    @pytest.fixture
    def share(self, db: None) -> Share:  # noqa: ARG002 (a database)
        made = new_share("retail")
        new_grant(made, new_recipient("acme"))
        return made

    @pytest.fixture
    def first(self, share: Share, tmp_path: Path, settings: Settings) -> SharedTable:
        made = plain_table(share, "crm.first", tmp_path)
        (ready,) = prepare(share)
        settings.PREPARED_BYTES = ready.size_bytes * 3 // 2
        return made

    def test_the_one_that_is_read_keeps_its_copies(self, share, first, tmp_path):
        kept = stored_files(first)
        second = plain_table(share, "a.second", tmp_path)  # it is prepared first

        for days in range(3):
            with pytest.raises(NotPreparedError, match="larger than this server keeps"):
                prepare(share, days=days)

            assert stored_files(first) == kept == known()
            assert stored_files(second) == set()
            assert not second.prepared_versions.exists()  # nothing was rewritten
        assert problems() == {"crm.first": False, "a.second": True}

    def test_a_new_version_that_has_no_room_leaves_the_older_one(
        self, share: Share, first: SharedTable
    ) -> None:
        kept = stored_files(first)
        table = DeltaTable(first.table.location)
        for _ in range(2):
            table.append(ROWS)
        table.delete("id = 8")

        with pytest.raises(NotPreparedError, match="larger than this server keeps"):
            prepare(share)

        assert stored_files(first) == kept

    def test_the_other_is_prepared_once_there_is_room(
        self, share: Share, first: SharedTable, tmp_path: Path, settings: Settings
    ) -> None:
        second = plain_table(share, "a.second", tmp_path)
        with pytest.raises(NotPreparedError):
            prepare(share)
        settings.PREPARED_BYTES *= 2

        assert sorted(one.num_made for one in prepare(share)) == [0, 1]

        assert len(stored_files(first) | stored_files(second)) == 2
        assert problems() == {"crm.first": False, "a.second": False}

    def test_a_lower_limit_erases_copies_of_one_table(
        self, share: Share, first: SharedTable, tmp_path: Path, settings: Settings
    ) -> None:
        settings.PREPARED_BYTES *= 2
        second = plain_table(share, "a.second", tmp_path)
        prepare(share)
        settings.PREPARED_BYTES //= 2

        with pytest.raises(NotPreparedError, match="larger than this server keeps"):
            prepare(share, days=1)

        assert [len(stored_files(one)) for one in (first, second)] in ([0, 1], [1, 0])
        assert sorted(problems().values()) == [False, True]


def plain_table(share: Share, name: str, tmp_path: Path) -> SharedTable:
    """Share a table of one file, which has a deletion vector, as plain files."""
    root = tmp_path / "lake" / name
    made = DeltaTable.create(str(root), ROWS.schema, properties=VECTORS)
    made.append(ROWS)
    made.delete("id = 7")
    table = new_table(name, location=str(root), version=2, latest_version_seen=2)
    return new_shared_table(share, name, table=table, plain=True)


def prepare(share: Share, *, days: int = 0) -> list[PreparedTable]:
    return prepare_share(share, reports=Reports(), now=NOW + days * DAY)


def problems() -> dict[str, bool]:
    """Whether the newest version of each table could not be prepared."""
    return {
        one.full_name: bool(one.preparation_problem)
        for one in SharedTable.objects.all()
    }


def test_the_cost_says_that_copies_are_too_large(settings: Settings) -> None:
    settings.PREPARED_BYTES = 1_000
    fits = PlainCost(num_files=2, num_copies=1, copied_bytes=1_000)
    too_large = PlainCost(num_files=2, num_copies=1, copied_bytes=1_001)

    assert "DELTAWEB_PREPARED_BYTES" not in fits.text
    assert too_large.text.endswith("copies of 1,000 B (DELTAWEB_PREPARED_BYTES).")
