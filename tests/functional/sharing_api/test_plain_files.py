"""Tables that are offered as plain files to clients of the parquet format."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.utils import timezone

from apps.jobs.models import Job
from apps.sharing.access.grants.preparing import request_due_preparations
from apps.sharing.models import PreparedFile, Recipient, Share, SharedTable
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.functional.sharing_api.calls import Caller, body_of, error, lines
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_api.plain_client import (
    BY_NAME,
    VECTORS,
    WIDE,
    NewPlainShare,
    by_first,
    plain_query,
    plain_rows,
    told_schema,
)
from tests.functional.sharing_api.ruled import Ruled, new_staff, rows

BY_ID = {"delta.columnMapping.mode": "id"}
NESTED = pa.struct([("x", pa.int32()), ("list", pa.list_(pa.int16()))])


# === Tables ===


def with_vectors(root: Path) -> DeltaTable:
    table = new_staff(root, properties=VECTORS)
    table.delete("id IN (3, 11)")
    return table


def renamed(root: Path) -> DeltaTable:
    table = new_staff(root, properties=BY_NAME, partition_by=["region"])
    table.rename_column("note", "remark")
    table.rename_column("region", "part of the world")
    return table


def swapped(root: Path) -> DeltaTable:
    """A table of which two columns have exchanged their names."""
    table = new_staff(root, properties=BY_NAME)
    for old, new in (("note", "x"), ("region", "note"), ("x", "region")):
        table.rename_column(old, new)
    return table


def by_ids(root: Path) -> DeltaTable:
    return new_staff(root, properties=BY_ID)


def nested(root: Path) -> DeltaTable:
    schema = pa.schema([("id", pa.int64()), ("s", NESTED)])
    table = DeltaTable.create(str(root), schema, properties=BY_NAME | WIDE)
    first = [{"x": 1, "list": [1, None]}, None]
    table.append(pa.table({"id": [1, 2], "s": first}, schema=schema))
    table.rename_column("s.x", "y")
    table.widen_column("s.y", "BIGINT")
    table.widen_column("s.list.element", "INT")
    return table


def widened(root: Path) -> DeltaTable:
    schema = pa.schema([("id", pa.int32()), ("price", pa.decimal128(6, 2))])
    table = DeltaTable.create(str(root), schema, properties=WIDE)
    price = [Decimal("1.50"), None]
    table.append(pa.table({"id": [1, 2], "price": price}, schema=schema))
    table.widen_column("id", "BIGINT")
    table.widen_column("price", "DECIMAL(20, 4)")
    return table


@pytest.mark.parametrize(
    "make", [with_vectors, renamed, swapped, by_ids, nested, widened]
)
def test_every_table_reads_as_our_own_reader_reads_it(
    tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller, make
) -> None:
    staff = shared_plain(make(tmp_path / "lake"))
    acme = new_caller("acme", staff.shared.share)
    staff.prepare()

    assert plain_rows(staff, acme) == by_first(staff.table)
    assert staff.rows(acme) == staff.rows(acme, {"version": None})
    told = staff.told(acme)
    assert "columnMapping" not in str(told)
    assert "typeChanges" not in str(told)


class TestFiles:
    def test_that_need_no_change_are_served_as_they_are_stored(
        self, tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller
    ) -> None:
        staff = shared_plain(with_vectors(tmp_path / "lake"))
        acme = new_caller("acme", staff.shared.share)
        (prepared,) = staff.prepare()

        urls = [line["file"]["url"] for line in lines(plain_query(staff, acme))[2:]]

        assert (prepared.signed, prepared.rewritten, prepared.absent) == (1, 2, 0)
        assert sorted("/prepared/" in url for url in urls) == [False, True, True]

    def test_that_have_the_newest_types_are_served_as_they_are_stored(
        self, tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller
    ) -> None:
        table = widened(tmp_path / "lake")
        new = {"id": [1 << 40], "price": [None]}
        table.append(pa.table(new, schema=table.snapshot().read().schema))
        staff = shared_plain(table)
        acme = new_caller("acme", staff.shared.share)

        first, again = staff.prepare(), staff.prepare()

        assert (first[0].signed, first[0].num_made) == (1, 1)
        assert (again[0].signed, again[0].num_made) == (1, 0)
        assert plain_rows(staff, acme) == by_first(table)
        staff.rule("id > 5")
        (ruled,) = staff.prepare()
        assert (ruled.signed, ruled.rewritten, ruled.absent) == (1, 0, 1)

    def test_of_a_table_without_such_features_are_ready_at_once(
        self, tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller
    ) -> None:
        staff = shared_plain(new_staff(tmp_path / "lake"))
        acme = new_caller("acme", staff.shared.share)

        assert plain_rows(staff, acme) == by_first(staff.table)
        assert plain_rows(staff, acme, {"version": 2}) == by_first(staff.table, 2)
        assert not PreparedFile.objects.exists()

    def test_hold_no_row_that_was_deleted(
        self, tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller
    ) -> None:
        staff = shared_plain(new_staff(tmp_path / "lake", properties=VECTORS))
        staff.table.delete("id = 7")
        acme = new_caller("acme", staff.shared.share)
        staff.prepare()
        plain_rows(staff, acme)

        assert len(staff.bytes_served) == 4  # the lines, and three files
        lines_told, *files = staff.bytes_served
        stored = [pq.read_table(pa.BufferReader(data)) for data in files]
        assert sorted(id_ for one in stored for id_ in one["id"].to_pylist()) == [
            *(one for one in range(15) if one != 7)
        ]
        assert b"secret-7" not in lines_told

    def test_show_the_same_part_of_a_table_as_other_files(
        self, tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller
    ) -> None:
        table = renamed(tmp_path / "lake")
        staff = shared_plain(table)
        staff.rule("`part of the world` = 'EU' AND id > 2", "id", "remark")
        acme = new_caller("acme", staff.shared.share)
        staff.prepare(proves=True)

        seen = plain_rows(staff, acme)

        assert [row["id"] for row in seen] == [10, 11, 12, 3, 4]
        assert {*seen[0]} == {"id", "remark"}
        assert staff.has_served("salary", "secret", "part of the world", "US") == []

    def test_are_found_by_hints(
        self, tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller
    ) -> None:
        staff = shared_plain(swapped(tmp_path / "lake"))
        acme = new_caller("acme", staff.shared.share)
        staff.prepare()

        # `note` holds what is stored as the region.
        answer = plain_query(staff, acme, {"predicateHints": ["note = 'US'"]})

        assert len(lines(answer)) == 4

    def test_have_names_that_tell_nothing(
        self, tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller
    ) -> None:
        staff = shared_plain(renamed(tmp_path / "lake"))
        acme = new_caller("acme", staff.shared.share)
        staff.prepare()

        keys = {*PreparedFile.objects.values_list("key", flat=True)}
        urls = [line["file"]["url"] for line in lines(plain_query(staff, acme))[2:]]

        assert len(keys) == len(urls) == 4
        assert all(any(key in url for key in keys) for url in urls)


class TestVersions:
    @pytest.fixture
    def staff(self, tmp_path: Path, shared_plain: NewPlainShare) -> Ruled:
        return shared_plain(with_vectors(tmp_path / "lake"))

    @pytest.fixture
    def acme(self, staff: Ruled, new_caller: NewCaller) -> Caller:
        return new_caller("acme", staff.shared.share)

    def test_that_are_awaited_say_when_to_ask_again(self, staff, acme) -> None:
        answer = plain_query(staff, acme)

        assert (answer.status_code, answer["Retry-After"]) == (503, "30")
        assert "are being prepared" in error(answer)["message"]
        assert Job.objects.get().kind == "sharing.prepare_share"
        plain_query(staff, acme)
        assert Job.objects.count() == 1

    def test_that_cannot_be_prepared_are_refused_at_once(self, staff, acme) -> None:
        SharedTable.objects.update(preparation_problem="a file is missing")

        answer = plain_query(staff, acme)

        assert answer.status_code == 409
        assert not Job.objects.exists()

    def test_the_newest_is_the_newest_that_is_ready(self, staff, acme) -> None:
        staff.prepare()
        before = by_first(staff.table)
        staff.table.delete("id = 12")

        assert acme.get(f"{staff.path}/version")["Delta-Table-Version"] == "4"
        assert plain_rows(staff, acme) == before
        refused = plain_query(staff, acme, {"version": 5})
        assert refused.status_code == 409
        assert "Version 5" in error(refused)["message"]
        staff.prepare()
        assert plain_rows(staff, acme) == by_first(staff.table)
        assert plain_rows(staff, acme, {"version": 4}) == before

    def test_that_were_never_prepared_are_refused_by_name(self, staff, acme) -> None:
        staff.table.delete("id = 12")
        staff.prepare()

        refused = plain_query(staff, acme, {"version": 4})

        assert refused.status_code == 409
        assert "Version 4" in error(refused)["message"]
        # No file of this version has a vector.
        assert plain_rows(staff, acme, {"version": 3}) == by_first(staff.table, 3)

    @pytest.mark.usefixtures("acme")
    def test_are_prepared_by_the_clock(self, staff: Ruled) -> None:
        Table.objects.update(latest_version_seen=4)

        assert request_due_preparations(now=timezone.now()) == 1
        staff.prepare()
        assert request_due_preparations(now=timezone.now()) == 0


class TestWhatIsPlain:
    @pytest.fixture
    def staff(self, tmp_path: Path, shared_plain: NewPlainShare) -> Ruled:
        staff = shared_plain(with_vectors(tmp_path / "lake"))
        SharedTable.objects.update(plain=False)
        return staff

    def test_is_a_share_with_all_its_tables(self, staff, new_caller) -> None:
        acme = new_caller("acme", staff.shared.share)
        assert plain_query(staff, acme).status_code == 400
        Share.objects.update(plain=True)
        staff.prepare()

        assert plain_rows(staff, acme) == by_first(staff.table)

    def test_is_a_recipient_with_all_it_reads(self, staff, new_caller) -> None:
        acme = new_caller("acme", staff.shared.share, plain=True)
        other = new_caller("globex", staff.shared.share)
        staff.prepare()

        assert plain_rows(staff, acme) == by_first(staff.table)
        assert plain_query(staff, other).status_code == 400
        assert staff.rows(other) == by_first(staff.table)

    def test_ends_earlier_urls_when_it_changes(self, staff, new_caller) -> None:
        acme = new_caller("acme", staff.shared.share, plain=True)
        staff.prepare()
        url = lines(plain_query(staff, acme))[2]["file"]["url"]
        Recipient.objects.update(plain=False)

        answer = acme.get(url.partition("/delta-sharing")[2])

        assert answer.status_code == 403
        assert "other terms" in error(answer)["message"]


class TestChanges:
    @pytest.fixture
    def staff(self, tmp_path: Path, shared_plain: NewPlainShare) -> Ruled:
        feed = {"delta.enableChangeDataFeed": "true"}
        table = new_staff(tmp_path / "lake", properties=VECTORS | feed | BY_NAME | WIDE)
        return shared_plain(table)

    @pytest.fixture
    def acme(self, staff: Ruled, new_caller: NewCaller) -> Caller:
        return new_caller("acme", staff.shared.share)

    def test_are_offered_from_the_first_version_that_was_prepared(
        self, staff: Ruled, acme: Caller
    ) -> None:
        staff.prepare()
        staff.table.rename_column("note", "remark")
        staff.table.delete("id = 3")
        staff.table.update({"remark": "'new'"}, "id = 4")
        staff.prepare()

        early = acme.get(f"{staff.path}/changes?startingVersion=1")
        found = staff.changes(acme, 5)
        plain = acme.get(f"{staff.path}/changes?startingVersion=5")

        assert early.status_code == 400
        assert "before version 4, because they were not prepared" in str(error(early))
        assert [(version, kind, row["id"]) for version, kind, row in found] == [
            (5, "delete", 3),
            (6, "update_postimage", 4),
            (6, "update_preimage", 4),
        ] or [kind for _, kind, _ in found] == ["delete", "delete", "insert"]
        assert plain.status_code == 200
        assert {field["name"] for field in told_schema(plain)["fields"]} == {
            *("id", "region", "salary", "remark")
        }

    @pytest.mark.parametrize(
        "change",
        [
            lambda table: table.rename_column("note", "remark"),
            lambda table: table.widen_column("small", "BIGINT"),
        ],
        ids=["a name", "a type"],
    )
    def test_of_versions_with_another_schema_are_refused(
        self, staff: Ruled, acme: Caller, change: Callable[[DeltaTable], object]
    ) -> None:
        staff.table.add_columns([pa.field("small", pa.int32())])
        staff.prepare()
        staff.table.append(rows(20, 1, "EU"))
        change(staff.table)
        staff.table.append(rows(21, 1, "EU")) if "note" in str(change) else None
        staff.prepare()

        refused = acme.get(f"{staff.path}/changes?startingVersion=5")

        assert refused.status_code == 400
        assert b"later versions" in body_of(refused)


class TestFolders:
    def test_are_not_offered(self, tmp_path, shared_plain, new_caller) -> None:
        staff = shared_plain(with_vectors(tmp_path / "lake"))
        SharedTable.objects.update(with_directory=True)
        acme = new_caller("acme", staff.shared.share)
        staff.prepare()

        answer = acme.ask("POST", f"{staff.path}/temporary-table-credentials", b"{}")

        assert answer.status_code == 400
        assert "plain files" in error(answer)["message"]
        assert staff.told(acme)["accessModes"] == ["url"]
