"""Tables of which recipients see some rows and some columns."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.utils import timezone
from pytest_django import Settings

from apps.jobs.models import Job
from apps.sharing.access.grants.preparing import (
    PREPARE_SHARE,
    request_due_preparations,
)
from apps.sharing.errors import NotPreparedError
from apps.sharing.models import PreparedFile, RecipientRule, Share
from apps.tables.models import Table
from tests.functional.sharing_api.calls import Caller, body_of, error, lines, local
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_api.ruled import Ruled, close_file, new_staff, rows
from tests.support.pages.factories import new_share, new_shared_table, new_table

MAPPED = {"delta.columnMapping.mode": "name"}


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, settings: Settings) -> None:
    settings.PREPARED_FILES = str(tmp_path / "prepared")


@pytest.fixture
def staff(db: None, tmp_path: Path) -> Ruled:  # noqa: ARG001 (a database)
    root = tmp_path / "lake" / "staff"
    table = new_table("hr.staff", location=str(root), version=3)
    shared = new_shared_table(new_share("People"), "hr.staff", table=table)
    return Ruled(new_staff(root), shared)


@pytest.fixture
def acme(staff: Ruled, new_caller: NewCaller) -> Caller:
    return new_caller("acme", staff.shared.share, properties={"region": "EU"})


def ids(found: list[dict[str, object]]) -> list[object]:
    return sorted(row["id"] for row in found)  # type: ignore[type-var]


class TestRows:
    def test_are_those_that_the_condition_is_true_for(self, staff: Ruled, acme: Caller):
        staff.rule("region = 'EU'")
        (prepared,) = staff.prepare()

        found = staff.rows(acme)

        assert ids(found) == [*range(5), 10, 11, 12]
        assert (prepared.signed, prepared.rewritten, prepared.absent) == (1, 1, 1)
        assert staff.has_served("secret", "US") == []

    def test_wait_until_files_on_the_border_are_rewritten(self, staff, acme) -> None:
        staff.rule("region = 'EU'")

        answer = staff.query(acme)

        assert answer.status_code == 409
        assert "not ready" in error(answer)["message"]
        assert staff.prepare()[0].num_made == 1
        assert staff.prepare()[0].num_made == 0
        assert staff.query(acme).status_code == 200

    def test_the_newest_version_is_the_newest_that_is_ready(self, staff, acme) -> None:
        staff.rule("region = 'EU'")
        staff.prepare()
        staff.table.append(
            pa.concat_tables([rows(20, 1, "EU"), rows(21, 1, "US", "secret")])
        )

        assert acme.get(f"{staff.path}/version")["Delta-Table-Version"] == "3"
        assert ids(staff.rows(acme)) == [*range(5), 10, 11, 12]
        assert staff.query(acme, {"version": 4}).status_code == 409
        staff.prepare()
        assert ids(staff.rows(acme)) == [*range(5), 10, 11, 12, 20]
        assert staff.has_served("secret", "US") == []

    def test_of_older_versions_are_those_of_then(self, staff: Ruled, acme: Caller):
        staff.rule("region = 'EU'")
        staff.prepare()
        staff.table.delete("id IN (1, 11)")
        staff.prepare()

        assert ids(staff.rows(acme)) == [0, 2, 3, 4, 10, 12]
        assert ids(staff.rows(acme, {"version": 3})) == [*range(5), 10, 11, 12]
        assert ids(staff.rows(acme, {"version": 2})) == [*range(5)]

    def test_that_a_condition_is_unknown_for_are_not_shown(self, staff, acme) -> None:
        staff.table.append(
            pa.concat_tables([rows(30, 2, None, "secret"), rows(32, 1, "EU")])
        )
        staff.table.append(rows(33, 1, None, "secret"))
        staff.rule("region <> 'US'")
        staff.prepare()

        assert ids(staff.rows(acme)) == [*range(5), 10, 11, 12, 32]
        assert staff.has_served("secret", "US") == []

    def test_are_found_by_hints_only_where_they_are_shown(self, staff, acme) -> None:
        staff.rule("region = 'EU'")
        staff.prepare()
        hidden, shown = ["id = 14"], ["id = 11"]

        assert len(lines(staff.query(acme, {"predicateHints": hidden}))) == 2
        assert len(lines(staff.query(acme, {"predicateHints": shown}))) == 3
        limited = lines(staff.query(acme, {"limitHint": 6}))
        assert len(limited) == 4

    def test_of_deletion_vectors_are_never_signed(self, tmp_path, acme, staff) -> None:
        root = tmp_path / "lake" / "vectors"
        marked = new_staff(root, properties={"delta.enableDeletionVectors": "true"})
        marked.delete("id = 3")
        marked.create_checkpoint()  # what comes after it is held apart
        marked.append(pa.concat_tables([rows(20, 1, "EU"), rows(21, 1, "US")]))
        staff.shared.table.location = str(root)
        staff.shared.table.save()
        staff.rule("salary >= 7000000 AND region = 'EU'")
        staff.prepare()

        assert ids(staff.rows(acme)) == [0, 1, 2, 4, 10, 11, 12, 20]
        assert b'"deletionVector"' not in b"".join(staff.bytes_served)


class TestRecipients:
    def test_see_what_their_properties_say(self, staff, acme, new_caller) -> None:
        other = new_caller("globex", staff.shared.share, properties={"region": "US"})
        nobody = new_caller("initech", staff.shared.share)
        staff.rule("region = recipient.region")
        assert [one.recipients for one in staff.prepare()] == [
            ["acme"],
            ["globex"],
            ["initech"],
        ]

        assert ids(staff.rows(acme)) == [*range(5), 10, 11, 12]
        assert ids(staff.rows(other)) == [*range(5, 10), 13, 14]
        assert staff.rows(nobody) == []

    def test_with_equal_values_share_files(self, staff, acme, new_caller) -> None:
        twin = new_caller(
            "twin", staff.shared.share, properties={"region": "EU", "level": 3}
        )
        staff.rule("region = recipient.region")
        (prepared,) = staff.prepare()

        assert prepared.recipients == ["acme", "twin"]
        assert PreparedFile.objects.count() == 1
        assert staff.rows(acme) == staff.rows(twin)

    @pytest.mark.parametrize(
        "value", ["EU' OR '1'='1", "' OR TRUE --", "EU\\", "recipient.name"]
    )
    def test_cannot_say_anything_but_a_value(self, staff, new_caller, value: str):
        evil = new_caller("evil", staff.shared.share, properties={"region": value})
        staff.rule("region = recipient.region")
        staff.prepare()

        assert staff.rows(evil) == []

    def test_of_a_rule_of_their_own_see_less_and_never_more(
        self, staff: Ruled, acme: Caller, new_caller: NewCaller
    ) -> None:
        other = new_caller("globex", staff.shared.share)
        RecipientRule.objects.create(
            shared_table=staff.shared,
            recipient=acme.recipient,
            condition="id > 3",
            columns=["id", "salary"],
        )
        staff.rule("region = 'EU'", "id", "region")
        staff.prepare()

        assert staff.rows(acme) == [{"id": one} for one in (10, 11, 12, 4)]
        assert len(staff.rows(other)) == 8
        assert {*staff.rows(other)[0]} == {"id", "region"}

    def test_read_nothing_of_a_share_that_is_off(self, staff, acme) -> None:
        staff.rule("region = 'EU'")
        staff.prepare()
        add = lines(staff.query(acme))[2]["file"]["deltaSingleAction"]["add"]
        Share.objects.update(off_since="2026-01-01T00:00:00Z")

        assert staff.query(acme).status_code == 404
        assert acme.get(local(add["path"])).status_code == 403
        assert body_of(acme.get("/shares")) == b'{"items":[]}'


class TestColumns:
    def test_that_are_hidden_are_told_of_nowhere(self, tmp_path, staff, acme) -> None:
        root = tmp_path / "lake" / "mapped"
        table = new_staff(root, properties=MAPPED, description="with salary of all")
        table.add_constraint("positive", "salary > 0", upgrade=True)
        salary = table.snapshot().schema.find("salary")
        assert salary is not None
        physical = salary.physical_name
        staff.shared.table.location = str(root)
        staff.shared.table.save()
        staff.rule("", "id", "region")
        staff.prepare()

        found = staff.rows(acme)
        told = staff.told(acme)["deltaMetadata"]

        assert len(found) == 15
        assert [f["name"] for f in json.loads(told["schemaString"])["fields"]] == [
            "id",
            "region",
        ]
        assert told["configuration"]["delta.columnMapping.maxColumnId"] == "2"
        assert staff.has_served("salary", physical, "note", "secret", "7000003") == []

    def test_of_partitions_leave_paths_and_values(self, tmp_path, staff, acme) -> None:
        root = tmp_path / "lake" / "parts"
        new_staff(root, partition_by=["region"])
        staff.shared.table.location = str(root)
        staff.shared.table.save()
        staff.rule("id <> 2", "id", "note")
        staff.prepare()

        found = staff.rows(acme)

        assert len(found) == 14
        assert staff.told(acme)["deltaMetadata"]["partitionColumns"] == []
        assert staff.has_served("region", "EU", "US", "salary") == []

    def test_that_are_hidden_answer_hints_as_those_that_are_not_there(
        self, staff: Ruled, acme: Caller
    ) -> None:
        staff.rule("", "id")
        staff.prepare()

        hidden = body_of(staff.query(acme, {"predicateHints": ["salary = 1"]}))
        missing = body_of(staff.query(acme, {"predicateHints": ["sala = 1"]}))

        assert hidden.count(b"\n") == missing.count(b"\n") == 5

    def test_in_the_parquet_format_are_told_as_little(self, staff, acme) -> None:
        staff.rule("region = 'EU'", "id")
        staff.prepare()

        answer = acme.query(staff.path)

        text = body_of(answer)
        statistics = [one["file"]["stats"] for one in lines(answer) if "file" in one]
        assert answer.status_code == 200
        assert not [w for w in (b"salary", b"region", b"note") if w in text]
        assert statistics
        assert not [one for one in statistics if "7000" in one]


class TestCounts:
    def test_of_files_and_bytes_are_not_told(self, staff, acme) -> None:
        staff.rule("region = 'EU'")
        staff.prepare()

        assert {"size", "numFiles"}.isdisjoint(staff.told(acme))


class TestRewrittenFiles:
    @pytest.mark.usefixtures("acme")
    def test_are_requested_by_the_clock_after_each_commit(self, staff: Ruled) -> None:
        def requested(version: int) -> int:
            Table.objects.update(latest_version_seen=version)
            return request_due_preparations(now=timezone.now())

        staff.rule("region = 'EU'")
        first = requested(3)
        staff.prepare()
        staff.table.append(rows(20, 1, "EU"))

        assert (first, requested(3), requested(4), requested(4)) == (1, 0, 1, 1)
        assert Job.objects.get().kind == PREPARE_SHARE.name  # what waits is enough

    def test_open_by_their_own_urls_alone(self, staff, acme, new_caller) -> None:
        staff.rule("region = 'EU'")
        staff.prepare()
        stranger = new_caller("stranger")
        found = [
            line["file"]["deltaSingleAction"] for line in lines(staff.query(acme))[2:]
        ]
        (url,) = [
            one["add"]["path"] for one in found if "/prepared/" in one["add"]["path"]
        ]
        path = local(url)

        for opened in (acme.get(path), stranger.client.get(url)):
            assert opened.status_code == 200  # a URL is its own key
            close_file(opened)
        for other in (
            path.replace("/prepared/", "/files/"),
            path.replace("sz=", "sz=1"),
            path.replace(".parquet", "x.parquet"),
            path.replace("/prepared/People/", "/prepared/Sales/"),
        ):
            assert acme.get(other).status_code == 403

    def test_are_erased_with_their_source(self, staff, acme, tmp_path) -> None:
        staff.rule("region = 'EU'")
        staff.prepare()
        (kept,) = (tmp_path / "prepared").rglob("*.parquet")
        source = PreparedFile.objects.get().source_path
        staff.table.delete("id >= 10")
        (Path(staff.table.root) / source).unlink()
        staff.prepare()

        assert not kept.exists()
        assert not PreparedFile.objects.exists()
        assert ids(staff.rows(acme)) == [*range(5)]

    def test_wait_for_no_table_and_no_rule_that_is_broken(
        self, staff, acme, new_caller, tmp_path
    ) -> None:
        share = staff.shared.share
        gone = new_table("hr.gone", location=str(tmp_path / "gone"))
        new_shared_table(share, "hr.gone", table=gone, condition="id > 1")
        first = new_caller("aaa", share).recipient
        staff.shared.rules.create(recipient=first, condition="renamed = 1")
        staff.rule("region = 'EU'")

        with pytest.raises(NotPreparedError) as raised:
            staff.prepare()

        message = raised.value.message
        assert message.startswith(("hr.gone cannot", "hr.staff for aaa cannot"))
        assert message.endswith("1 more of this share failed.")

        assert ids(staff.rows(acme)) == [*range(5), 10, 11, 12]

    @pytest.mark.usefixtures("acme")
    def test_are_no_more_than_a_share_may_have(self, staff, settings) -> None:
        settings.PREPARED_BYTES = 0
        staff.rule("region = 'EU'")
        with pytest.raises(NotPreparedError, match="larger than this server keeps"):
            staff.prepare()

        assert not PreparedFile.objects.filter(num_rows__gt=0).exists()


class TestProofs:
    @pytest.mark.parametrize("columns", [(), ("id", "note"), ("id", "region")])
    def test_count_no_row_outside(self, staff, acme, columns) -> None:
        staff.rule("region = 'EU'", *columns)

        (proved,) = staff.prepare(proves=True)

        assert proved.rows_outside == 0
        assert staff.rows(acme)

    @pytest.mark.usefixtures("acme")
    def test_count_rows_of_a_file_that_holds_others(self, staff, tmp_path) -> None:
        staff.rule("region = 'EU'", "id", "region")
        staff.prepare()
        first, second = sorted((tmp_path / "prepared").rglob("*.parquet"))
        pq.write_table(rows(0, 3, "US").select(["id", "region"]), first)
        pq.write_table(rows(0, 4, "EU").select(["id", "region", "salary"]), second)

        (proved,) = staff.prepare(proves=True)

        sizes = {file.key: file.num_rows for file in PreparedFile.objects.all()}
        assert proved.rows_outside == 3 + sizes[second.stem]


class TestErasedFiles:
    """Files not read for `PREPARED_DAYS` are rewritten by the next query."""

    @pytest.fixture
    def erased(self, staff: Ruled, acme: Caller, settings: Settings) -> Ruled:
        del acme  # a share without recipients is not prepared
        settings.PREPARED_WAIT_S = 0
        staff.rule("region = 'EU'")
        staff.prepare()
        assert staff.expire() == 1
        return staff

    def test_are_prepared_for_the_query_that_needs_them(self, erased, acme) -> None:
        answer = erased.query(acme)
        erased.query(acme)

        assert (answer.status_code, answer["Retry-After"]) == (503, "30")
        assert "are being prepared" in error(answer)["message"]
        assert Job.objects.get().kind == PREPARE_SHARE.name
        assert erased.has_served("secret", "US", ".parquet") == []
        erased.prepare()
        assert ids(erased.rows(acme)) == [*range(5), 10, 11, 12]
        assert erased.has_served("secret", "US") == []

    def test_are_not_replaced_by_an_older_version(self, staff, erased, acme) -> None:
        staff.prepare()
        staff.table.append(
            pa.concat_tables([rows(20, 1, "EU"), rows(21, 1, "US", "secret")])
        )
        staff.prepare()
        newest = max(PreparedFile.objects.all(), key=lambda file: file.id).source_path
        assert staff.expire(newest) == 1

        version = acme.get(f"{erased.path}/version")

        assert (version.status_code, staff.query(acme).status_code) == (503, 503)
        assert ids(staff.rows(acme, {"version": 3})) == [*range(5), 10, 11, 12]
        staff.prepare()
        assert ids(staff.rows(acme)) == [*range(5), 10, 11, 12, 20]

    def test_are_requested_by_no_query_after_a_failure(
        self, erased: Ruled, acme: Caller
    ) -> None:
        hidden = Path(erased.table.root).rename(Path(erased.table.root + "-away"))
        with pytest.raises(NotPreparedError):
            erased.prepare()
        hidden.rename(erased.table.root)

        refused = erased.query(acme)

        assert (refused.status_code, Job.objects.exists()) == (409, False)
        erased.prepare()
        assert ids(erased.rows(acme)) == [*range(5), 10, 11, 12]
