"""Preparing what recipients read in part: what is written, erased and remembered."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.jobs.running.reports import Reports
from apps.sharing.access.grants.preparing import (
    PREPARE_SHARE,
    PreparedTable,
    preparation_to_show,
    prepare_share,
    request_due_preparations,
    request_preparation,
    table_rules,
)
from apps.sharing.errors import NotPreparedError
from apps.sharing.models import (
    PreparedFile,
    PreparedVersion,
    RecipientRule,
    Share,
    SharedTable,
)
from apps.tables.models import StoredFinding, Table
from deltaweb.sharing.parameters import MAX_LONG
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.logs.delta_logs import add
from tests.support.logs.local_logs import LocalLog, stats_of
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)
from tests.support.pages.prepared_files import (
    new_prepared_file,
    put_file,
    stored_files,
)

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
SCHEMA = pa.schema({"id": pa.int64(), "region": pa.string(), "note": pa.string()})


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, settings: Settings) -> None:
    settings.HOME = tmp_path / "home"
    settings.PREPARED_FILES = str(tmp_path / "prepared")


@pytest.fixture
def share() -> Share:
    made = new_share("retail")
    new_grant(made, new_recipient("acme", properties={"region": "EU"}))
    return made


def rows(first: int, *regions: str) -> pa.Table:
    ids = range(first, first + len(regions))
    notes = [f"note {one}" for one in ids]
    return pa.table([[*ids], [*regions], notes], schema=SCHEMA)


def table_of(
    tmp_path: Path,
    share: Share,
    name: str = "crm.orders",
    **fields: Any,  # noqa: ANN401
) -> tuple[DeltaTable, SharedTable]:
    """A table at version 3: a file of each region, and one of both."""
    root = tmp_path / "lake" / name
    made = DeltaTable.create(str(root), SCHEMA)
    for some in (rows(0, "EU", "EU"), rows(2, "US"), rows(3, "EU", "US", "US")):
        made.append(some)
    table = new_table(name, location=str(root), version=3, latest_version_seen=3)
    return made, new_shared_table(share, name, table=table, **fields)


def prepare(share: Share, *, proves: bool = False) -> list[PreparedTable]:
    return prepare_share(share, reports=Reports(), proves=proves, now=NOW)


class TestPreparing:
    def test_rewrites_the_files_on_the_border_once(self, tmp_path, share) -> None:
        _, shared = table_of(tmp_path, share, condition="region = 'EU'")

        (made,) = prepare(share, proves=True)
        (again,) = prepare(share)

        assert (made.table, made.recipients) == (shared.full_name, ["acme"])
        assert (made.signed, made.rewritten, made.absent) == (1, 1, 1)
        assert (made.version, made.num_made, made.rows_outside) == (3, 1, 0)
        assert (again.num_made, again.rows_outside) == (0, None)
        (file,) = PreparedFile.objects.all()
        assert (file.num_rows, file.size_bytes) == (1, made.size_bytes)
        assert (file.prepared_at, file.last_used_at) == (NOW, NOW)
        assert stored_files(shared) == {file.key}

    def test_remembers_what_recipients_read(self, tmp_path, share) -> None:
        _, shared = table_of(tmp_path, share, condition="region = 'EU'")

        (made,) = prepare(share, proves=True)
        (again,) = prepare(share)

        (version,) = PreparedVersion.objects.all()
        ((rule, _),) = table_rules(shared)
        assert (version.rule, version.version) == (rule.digest, 3)
        assert (version.num_signed, version.num_rewritten) == (1, 1)
        assert (version.num_absent, version.num_rows) == (1, 3)
        assert (version.size_bytes, version.prepared_at) == (made.size_bytes, NOW)
        assert version.num_outside == 0  # as it was proved
        assert again.size_bytes == made.size_bytes

    def test_of_a_file_without_a_row_to_be_seen_writes_none(self, tmp_path, share):
        _, shared = table_of(tmp_path, share, condition="length(region) > 2")

        (made,) = prepare(share)

        assert (made.signed, made.rewritten, made.absent) == (0, 0, 3)
        assert (made.num_made, made.size_bytes) == (3, 0)
        assert stored_files(shared) == set()
        assert PreparedVersion.objects.get().num_rows == 0

    def test_lets_health_know_who_sees_no_row_any_more(self, tmp_path, share) -> None:
        made, shared = table_of(tmp_path, share, condition="length(region) > 2")
        new_metadata(shared.table, schema_string=made.snapshot().metadata.schema_string)
        prepare(share)

        (found,) = StoredFinding.objects.open()
        said = "no row of version 3 meets its condition."
        assert found.sentence == f"acme sees no row of {shared.full_name}: {said}"

        made.append(rows(6, "EMEA"))
        prepare(share)
        assert not StoredFinding.objects.open().exists()

    def test_leaves_tables_alone_that_are_shared_whole(self, tmp_path, share) -> None:
        table_of(tmp_path, share)

        assert prepare(share) == []
        assert not PreparedVersion.objects.exists()

    @cases(
        "texts, num_rows",
        {
            "all say": ([stats_of(3, {}, {}), stats_of(4, {}, {})], 7),
            "one does not say": ([stats_of(3, {}, {}), None], None),
            "absurd numbers": ([stats_of(MAX_LONG, {}, {})] * 2, MAX_LONG),
        },
    )
    def test_counts_the_rows_of_files_as_they_are(
        self, tmp_path, share, texts, num_rows
    ):
        files = [
            add(f"f{number}", stats=text, partitionValues={"p": "1"})
            for number, text in enumerate(texts)
        ]
        other = add("other", stats=stats_of(9, {}, {}), partitionValues={"p": "2"})
        log = LocalLog(tmp_path).start(*files, other, partitionColumns=["p"])
        table = new_table("crm.log", location=log.location, version=0)
        new_shared_table(share, "crm.log", table=table, condition="p = 1")

        (made,) = prepare(share)

        assert (made.signed, made.rewritten, made.absent) == (2, 0, 1)
        assert PreparedVersion.objects.get().num_rows == num_rows

    def test_counts_no_rows_that_a_vector_deletes(self, tmp_path, share) -> None:
        root = str(tmp_path / "vectors")
        properties = {"delta.enableDeletionVectors": "true"}
        made = DeltaTable.create(
            root, SCHEMA, partition_by=["region"], properties=properties
        )
        made.append(rows(0, "EU", "EU", "US"))
        made.append(rows(3, "EU"))
        made.delete("id = 1")
        table = new_table("crm.vectors", location=root, version=3)
        new_shared_table(share, "crm.vectors", table=table, condition="region = 'EU'")

        (found,) = prepare(share)

        assert (found.signed, found.absent) == (2, 1)
        assert PreparedVersion.objects.get().num_rows == 2

    def test_has_a_rule_for_all_recipients_with_its_values(self, tmp_path, share):
        new_grant(share, new_recipient("beta", properties={"region": "US"}))
        new_grant(share, new_recipient("gamma", properties={"region": "EU"}))
        new_recipient("stranger", properties={"region": "US"})
        _, shared = table_of(tmp_path, share, condition="region = recipient.region")

        found = prepare(share)

        assert [one.recipients for one in found] == [["acme", "gamma"], ["beta"]]
        assert [names for _, names in table_rules(shared)] == [
            ["acme", "gamma"],
            ["beta"],
        ]
        assert PreparedVersion.objects.values("rule").distinct().count() == 2


class TestErasing:
    def test_takes_files_that_a_killed_preparation_left(self, tmp_path, share) -> None:
        _, shared = table_of(tmp_path, share, condition="region = 'EU'")
        put_file(shared, "stray.parquet", at=NOW - DAY)
        put_file(shared, "fresh.parquet", at=NOW)

        prepare(share)

        (file,) = PreparedFile.objects.all()
        assert stored_files(shared) == {file.key, "fresh"}

    def test_takes_files_whose_source_is_erased(self, tmp_path, share) -> None:
        made, shared = table_of(tmp_path, share, condition="region = 'EU'")
        prepare(share)
        before = stored_files(shared)
        made.optimize()
        prepare(share)
        kept = stored_files(shared)
        (source,) = [
            file.source_path for file in PreparedFile.objects.filter(key__in=before)
        ]
        Path(made.root, source).unlink()

        prepare(share)

        assert before < kept
        assert stored_files(shared) == kept - before

    def test_takes_files_that_were_not_asked_for(self, tmp_path, share) -> None:
        _, shared = table_of(tmp_path, share, condition="region = 'EU'")
        new_prepared_file(
            shared, "unused", last_used_at=NOW - 400 * DAY, source_path="gone"
        )
        other = new_shared_table(share, "crm.other")
        new_prepared_file(other, "unused-too", last_used_at=NOW - 400 * DAY)

        with pytest.raises(NotPreparedError):
            prepare(share)  # the other table has no log

        assert "unused" not in stored_files(shared)
        assert stored_files(other) == set()

    def test_takes_files_of_a_table_that_is_shared_whole_by_now(self, tmp_path, share):
        _, shared = table_of(tmp_path, share)
        put_file(shared, "stray.parquet", at=NOW - DAY)
        new_prepared_file(shared, "old", source_path="gone")

        assert prepare(share) == []
        assert stored_files(shared) == set()


class TestFaults:
    def test_of_one_table_are_remembered_and_hold_back_no_other(self, tmp_path, share):
        _, broken = table_of(tmp_path, share, "crm.broken", condition="gone = 1")
        _, sound = table_of(tmp_path, share, "crm.sound", condition="region = 'EU'")

        with pytest.raises(NotPreparedError) as caught:
            prepare(share)

        assert (caught.value.what, caught.value.num_others) == (
            f"{broken.full_name} for acme",
            0,
        )
        broken.refresh_from_db()
        sound.refresh_from_db()
        assert "gone" in broken.preparation_problem
        assert broken.preparation_failed_at == NOW
        assert sound.preparation_problem == ""
        assert sound.preparation_failed_at is None
        assert [*sound.prepared_versions.values_list("version", flat=True)] == [3]
        assert not broken.prepared_versions.exists()

    def test_keep_the_time_of_the_first_and_end_with_it(self, tmp_path, share) -> None:
        _, shared = table_of(tmp_path, share, condition="gone = 1")
        SharedTable.objects.update(preparation_failed_at=NOW - DAY)
        with pytest.raises(NotPreparedError):
            prepare(share)
        shared.refresh_from_db()
        assert shared.preparation_failed_at == NOW - DAY

        SharedTable.objects.update(condition="region = 'EU'")
        prepare(share)

        shared.refresh_from_db()
        assert shared.preparation_problem == ""
        assert SharedTable.objects.get().preparation_failed_at is None

    def test_of_one_recipient_hold_back_no_other(self, tmp_path, share) -> None:
        beta = new_recipient("beta")
        new_grant(share, beta)
        _, shared = table_of(tmp_path, share, condition="region = 'EU'")
        RecipientRule.objects.create(
            shared_table=shared, recipient=beta, columns=["gone"]
        )

        with pytest.raises(NotPreparedError, match="for beta cannot be prepared"):
            prepare(share)

        assert shared.prepared_versions.count() == 1

    def test_are_counted(self, tmp_path, share) -> None:
        for name in ("crm.a", "crm.b", "crm.c"):
            table_of(tmp_path, share, name, condition="gone = 1")

        with pytest.raises(NotPreparedError) as caught:
            prepare(share)

        assert caught.value.num_others == 2


class TestJobs:
    def test_are_queued_once(self, share: Share) -> None:
        first = request_preparation(share, now=NOW)

        assert request_preparation(share, now=NOW) == first
        assert request_preparation(share, proves=True, now=NOW) != first
        assert request_preparation(new_share("other"), now=NOW) != first
        assert first.title == "Prepare the share retail"

    def test_are_shown_until_they_are_done(self, share: Share) -> None:
        assert preparation_to_show(share) is None
        job = request_preparation(share, now=NOW)
        proof = request_preparation(share, proves=True, now=NOW + DAY)
        request_preparation(new_share("other"), now=NOW + 2 * DAY)

        assert preparation_to_show(share) == proof
        Job.objects.filter(id=proof.id).update(created_at=NOW - DAY)
        assert preparation_to_show(share) == job
        Job.objects.filter(id=job.id).update(state=Job.State.FAILED)
        assert preparation_to_show(share) == job
        Job.objects.filter(id=job.id).update(state=Job.State.DONE)
        assert preparation_to_show(share) is None

    @pytest.mark.django_db(transaction=True)
    def test_prepare_the_share_that_they_name(self, tmp_path, share) -> None:
        table_of(tmp_path, share, condition="region = 'EU'")
        job = request_preparation(share, proves=True, now=NOW)

        PREPARE_SHARE.work(job.id)

        job.refresh_from_db()
        assert (job.state, job.result) == (Job.State.DONE, {"tables": 1, "files": 1})
        assert PreparedVersion.objects.get().num_outside == 0

    @pytest.mark.django_db(transaction=True)
    def test_of_a_share_that_is_gone_do_nothing(self, share: Share) -> None:
        job = request_preparation(share, now=NOW)
        share.delete()

        PREPARE_SHARE.work(job.id)

        job.refresh_from_db()
        assert (job.state, job.result) == (Job.State.DONE, {"tables": 0})


class TestDuePreparations:
    @pytest.fixture
    def shared(self, tmp_path: Path, share: Share) -> SharedTable:
        _, shared = table_of(tmp_path, share, condition="region = recipient.region")
        prepare(share)
        return shared

    def test_are_none_while_the_newest_version_is_ready(self, shared) -> None:
        assert shared.prepared_versions.count() == 1
        assert request_due_preparations(now=NOW) == 0
        assert not Job.objects.exists()

    def test_come_with_a_new_version(self, shared: SharedTable) -> None:
        Table.objects.update(latest_version_seen=4)

        assert request_due_preparations(now=NOW) == 1
        (job,) = Job.objects.all()
        assert job.kind == PREPARE_SHARE.name
        assert job == preparation_to_show(shared.share)

    def test_come_with_a_new_rule(self, shared: SharedTable) -> None:
        beta = new_recipient("beta", properties={"region": "US"})
        new_grant(shared.share, beta)

        assert request_due_preparations(now=NOW) == 1

    def test_come_with_a_rule_of_one_recipient(self, shared: SharedTable) -> None:
        SharedTable.objects.update(condition="")
        RecipientRule.objects.create(
            shared_table=shared,
            recipient=shared.share.recipients.get(),
            columns=["id"],
        )

        assert request_due_preparations(now=NOW) == 1

    @pytest.mark.parametrize(
        "fields",
        [{"condition": ""}, {"condition": "id ="}],
        ids=["no rule", "a rule that cannot be read"],
    )
    def test_do_not_come_without_a_rule(self, shared, fields: dict[str, str]) -> None:
        assert shared.condition
        SharedTable.objects.update(**fields)
        Table.objects.update(latest_version_seen=4)

        assert request_due_preparations(now=NOW) == 0

    def test_do_not_come_for_a_table_that_nobody_looked_at(self, shared) -> None:
        Table.objects.filter(id=shared.table_id).update(latest_version_seen=None)

        assert request_due_preparations(now=NOW) == 0

    def test_do_not_come_for_a_share_that_is_off(self, shared: SharedTable) -> None:
        Table.objects.update(latest_version_seen=4)
        Share.objects.filter(id=shared.share_id).update(off_since=NOW)

        assert request_due_preparations(now=NOW) == 0

    @pytest.mark.parametrize(("minutes", "num_due"), [(14, 0), (16, 1)])
    def test_come_again_some_time_after_a_failure(
        self, shared: SharedTable, minutes: int, num_due: int
    ) -> None:
        SharedTable.objects.update(preparation_problem="the store is away")
        job = request_preparation(shared.share, now=NOW)
        assert request_due_preparations(now=NOW) == 0
        ended = NOW - timedelta(minutes=minutes)
        Job.objects.update(state=Job.State.FAILED, finished_at=ended)

        assert request_due_preparations(now=NOW) == num_due

        assert Job.objects.exclude(id=job.id).count() == num_due

    def test_come_once_a_share(self, shared: SharedTable, tmp_path: Path) -> None:
        table_of(tmp_path, shared.share, "crm.more", condition="id = 1")
        table_of(tmp_path, new_share("empty"), "crm.none", condition="id = 1")
        Table.objects.update(latest_version_seen=4)

        assert request_due_preparations(now=NOW) == 1
        assert Job.objects.count() == 1
