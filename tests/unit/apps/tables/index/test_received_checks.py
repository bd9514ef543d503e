"""A provider that does not answer rests, and its tables alone wait for it."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from apps.jobs.kind import to_json
from apps.jobs.kinds import all_kinds
from apps.jobs.models import Job
from apps.tables.catalogue.lakes.scan_job import request_due_scans
from apps.tables.index.probing import probe_tables
from apps.tables.index.received_checks import ReceivedCheck, request_received
from apps.tables.index.refresh import refresh_table
from apps.tables.models import Lake, StorageConnection, Table
from apps.tables.storage.opening import open_table
from apps.tables.storage.received import WAITS_S, received_options, waiting
from apps.tables.storage.sealing import seal
from apps.tables.work.preview import PREVIEW, Preview
from deltaweb.storage.received.errors import ProviderLimitError, ProviderRestsError
from tests.support.pages.factories import NOW, new_job, new_table
from tests.support.stores.hostile_provider import TABLE, Hostile, hostile_running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
PREFIX = "received://acme"
BASE_S = 60


@pytest.fixture
def hostile(settings, tmp_path: Path) -> Iterator[Hostile]:
    settings.HOME = tmp_path
    settings.STORAGE_HOSTS = ["127.0.0.1"]
    settings.PROBE_INTERVAL_S = BASE_S
    settings.RECEIVED_CHECK_S = 0.3
    with hostile_running() as running:
        StorageConnection.objects.create(
            name="acme",
            prefix=PREFIX,
            option_names=["bearer_token", "endpoint"],
            sealed=seal(running.provider.profile.fields()),
            created_at=NOW,
            updated_at=NOW,
        )
        yield running


def received(name: str = "t") -> Table:
    return new_table(f"acme.{name}", location=f"{PREFIX}/s/c/{name}")


def check() -> Job:
    """Do what a worker does that is woken for a check of the provider."""
    asked = to_json(ReceivedCheck(PREFIX))
    job = new_job(kind="tables.check_received", parameters=asked)
    return done(job)


def done(job: Job) -> Job:
    all_kinds()[job.kind].work(job.id)
    job.refresh_from_db()
    return job


def connection() -> StorageConnection:
    return StorageConnection.objects.get(prefix=PREFIX)


def rest_s() -> float:
    until = connection().rests_until
    assert until is not None
    return (until - timezone.now()).total_seconds()


def wake_up() -> None:
    """Let the rest be over, as it is after a while."""
    past = timezone.now() - timedelta(seconds=1)
    StorageConnection.objects.update(rests_until=past)
    Table.objects.update(probe_due_at=past)


def test_the_clock_never_asks_a_provider_itself(hostile: Hostile) -> None:
    received("t")
    received("u")

    assert probe_tables(now=timezone.now()) == 0
    assert request_received(now=timezone.now()) == 1
    assert request_received(now=timezone.now()) == 1

    assert hostile.provider.asked == []
    (job,) = Job.objects.all()
    assert (job.kind, job.parameters) == (
        "tables.check_received",
        {"provider": PREFIX},
    )


def test_a_provider_that_drips_rests_with_all_its_tables(hostile: Hostile) -> None:
    tables = [received("t"), received("u")]
    for name in ("t", "u"):
        hostile.drips(f"{TABLE.path[:-1]}{name}/version")

    job = check()

    assert (job.state, job.result) == ("DONE", {"num_looked_at": 1})
    assert len(hostile.provider.asked) == 1
    assert connection().failures == 1
    assert 0 < rest_s() <= BASE_S
    for table in tables:
        table.refresh_from_db()
        assert table.probe_due_at > timezone.now()
    failed = [table.error_code for table in tables if table.error_code]
    assert failed == ["provider-limit"]
    assert request_received(now=timezone.now()) == 0


def test_each_failure_makes_the_rest_longer_and_an_answer_ends_it(hostile: Hostile):
    received()
    hostile.provider.puts(hostile.version_path, {}, 503)
    rests = []
    for _ in range(3):
        check()
        rests.append(rest_s())
        wake_up()

    assert [round(rest / BASE_S) for rest in rests] == [1, 2, 4]
    assert connection().failures == 3
    hostile.is_at(2)
    check()

    assert (connection().failures, connection().rests_until) == (0, None)


def test_a_table_that_is_not_shared_is_no_fault_of_its_provider(hostile: Hostile):
    table = received()
    del hostile.provider.answers["/shares/s/all-tables"]

    check()

    table.refresh_from_db()
    assert table.error_code == "not-shared"
    assert (connection().failures, connection().rests_until) == (0, None)


def test_an_index_that_is_killed_for_its_memory_begins_a_rest(hostile: Hostile):
    table = received()
    job = refresh_table(table, now=NOW)
    Job.objects.update(state="FAILED", error_code="job-memory", error="Too much.")
    job.refresh_from_db()
    note_killed = all_kinds()[job.kind].note_killed
    assert note_killed is not None

    note_killed(job)

    table.refresh_from_db()
    assert (table.error_code, table.probe_failures) == ("job-memory", 1)
    assert connection().failures == 1
    assert 0 < rest_s() <= BASE_S
    assert hostile.provider.asked == []


def test_nobody_waits_for_a_provider_that_rests(hostile: Hostile) -> None:
    """A page or a command reads neither its log nor its files meanwhile."""
    table = received()
    hostile.drips(hostile.version_path)
    StorageConnection.objects.update(
        failures=1, rests_until=timezone.now() + timedelta(minutes=1)
    )

    with pytest.raises(ProviderRestsError, match="acme did not answer"):
        open_table(table, roots=None).latest_version()

    assert hostile.provider.asked == []
    wake_up()
    with pytest.raises(ProviderLimitError):
        open_table(table, roots=None).latest_version()


def test_an_index_of_a_provider_that_rests_asks_nothing(hostile: Hostile) -> None:
    table = received()
    StorageConnection.objects.update(
        failures=1, rests_until=timezone.now() + timedelta(minutes=1)
    )

    job = done(refresh_table(table, now=NOW))

    assert (job.state, job.error_code) == ("FAILED", "provider-rests")
    assert hostile.provider.asked == []


def test_an_index_takes_no_other_tables_along_and_notes_the_fault(hostile: Hostile):
    received_job = refresh_table(received(), now=NOW)
    own_job = refresh_table(new_table("own"), now=NOW)
    hostile.is_at(3)
    hostile.goes_on(hostile.query_path, line=b"{}\n" * 10_000)

    done(received_job)

    own_job.refresh_from_db()
    assert own_job.state == "QUEUED"
    assert received_job.state == "FAILED"
    assert received_job.error_code == "provider-limit"
    assert connection().failures == 1


def test_a_scan_is_not_due_while_its_provider_rests(hostile: Hostile) -> None:
    assert hostile.provider.asked == []
    Lake.objects.create(
        url=PREFIX, created_at=NOW, scan_interval_s=600, scan_due_at=NOW
    )
    StorageConnection.objects.update(
        failures=1, rests_until=timezone.now() + timedelta(minutes=1)
    )

    assert request_due_scans(now=timezone.now()) == 0
    wake_up()
    assert request_due_scans(now=timezone.now()) == 1


def test_rows_that_a_person_waits_for_are_not_waited_for_long(
    hostile: Hostile,
) -> None:
    table = received()
    hostile.drips(hostile.version_path)

    job = PREVIEW.request(table, Preview(version=0), now=timezone.now())

    assert done(job).error_code == "provider-slow"


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize(("seconds", "waits_s"), [(120, WAITS_S), (5, 5)])
def test_a_wait_is_never_longer_than_a_check(
    settings, seconds: int, waits_s: float
) -> None:
    settings.RECEIVED_CHECK_S = seconds
    options = received_options(connection())

    assert waiting(options)["look_bounds"]["waits_s"] == waits_s
    assert options["look_bounds"]["waits_s"] is None
    assert waiting({"endpoint": "here"}) == {"endpoint": "here"}
