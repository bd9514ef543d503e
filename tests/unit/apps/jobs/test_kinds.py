"""Every kind of job: found by the apps that have them, and known to Celery."""

from dataclasses import dataclass

import pytest

from apps.jobs import kinds
from apps.jobs.kind import NoParameters, Queue, to_json
from apps.jobs.models import Job
from apps.pages.page_json import from_json
from deltaweb.celery import app
from tests.support import cases

# Never a job.
BY_THE_CLOCK = {
    *("jobs.sweep_leases", "notices.publish", "notices.serve", "tables.probe_due"),
}
ON_SPARK = {
    "sharing.answer_query",
    "sharing.prepare_share",
    "tables.check_files",
    "tables.delete_rows",
    "tables.diff_rows",
    "tables.index_log",
    "tables.merge_rows",
    "tables.profile_column",
    "tables.profile_columns",
    "tables.read_changes",
    "tables.survey_files",
    "tables.update_rows",
    "tables.write_checkpoint",
}


def test_every_kind_is_a_task() -> None:
    for module in ("apps.jobs.tasks", "apps.tables.tasks"):
        app.loader.import_task_module(module)
    tasks = {
        name
        for name in app.tasks
        if name.startswith(("accounts.", "jobs.", "notices.", "sharing.", "tables."))
    }

    assert tasks - BY_THE_CLOCK == set(kinds.all_kinds())


def test_every_kind_says_what_it_does_in_words_of_its_own() -> None:
    words = {kinds.words_of(name) for name in kinds.all_kinds()}

    assert len(words) == len(kinds.all_kinds())
    assert {kinds.kind_of(word) for word in words} == set(kinds.all_kinds())


def test_jobs_wait_in_the_queue_of_their_kind() -> None:
    found = {name for name, kind in kinds.all_kinds().items() if kind.queue == "spark"}

    assert found == ON_SPARK
    assert kinds.queue_of(Job(kind="test.nothing")) == "default"
    assert kinds.queues() == sorted(Queue)


def test_who_has_the_kind_of_a_job_loads_no_other(monkeypatch) -> None:
    kinds.all_kinds()
    monkeypatch.setattr(kinds, "_to_load", ["no.such.module"])

    assert kinds.queue_of(Job(kind="tables.index_log")) == "spark"
    assert kinds.words_of("tables.index_log") != "tables.index_log"
    with pytest.raises(ModuleNotFoundError):
        kinds.queue_of(Job(kind="test.nothing"))


@cases(
    "kind, parameters, queue",
    {
        "rows": ("preview_rows", {"version": 1}, "interactive"),
        "every row": ("preview_rows", {"version": 1, "limit": None}, "default"),
        "a comparison": ("diff_rows", {}, "interactive"),
        "a Parquet file": ("inspect_file", {}, "interactive"),
        "a place": ("check_location", {}, "interactive"),
        "a dry run": ("delete_rows", {"seen": None}, "interactive"),
        "in process": ("write_checkpoint", {"seen": None}, "interactive"),
        "what is agreed to": ("delete_rows", {"seen": {}}, "spark"),
        "the same, in process": ("optimize", {"seen": {}}, "default"),
        "a profile": ("profile_column", {}, "interactive"),
        "what Spark looks at": ("survey_files", {}, "spark"),
        "an index": ("index_log", {}, "spark"),
    },
)
def test_what_a_person_waits_for_has_a_lane_of_its_own(kind, parameters, queue):
    job = Job(kind=f"tables.{kind}", parameters=parameters)

    assert kinds.queue_of(job) == queue


def test_a_kind_of_no_app_keeps_its_name() -> None:
    assert kinds.words_of("old.work") == "old.work"
    assert not kinds.is_reserved("old.work")


@dataclass(frozen=True)
class Versions:
    """Parameters as they are written in the code."""

    from_: int
    key: tuple[str, ...] = ()


class TestParameters:
    def test_are_json_in_a_row(self) -> None:
        asked = Versions(3, ("a", "b"))

        assert to_json(asked) == {"from": 3, "key": ["a", "b"]}
        assert from_json(Versions, to_json(asked)) == asked

    def test_of_an_older_row_have_their_defaults(self) -> None:
        assert from_json(Versions, {"from": 3, "table_id": "x"}) == Versions(3)

    def test_may_be_none(self) -> None:
        assert to_json(NoParameters()) == {}
