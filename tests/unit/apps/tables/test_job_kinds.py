from apps.jobs.kinds import words_of
from apps.tables.job_kinds import WORDS
from deltaweb.celery import app

BY_THE_CLOCK = {"tables.probe_due"}  # never a job that a page shows


def test_every_task_that_works_on_a_job_has_words() -> None:
    app.loader.import_task_module("apps.tables.tasks")
    tasks = {name for name in app.tasks if name.startswith("tables.")}

    assert set(WORDS) == tasks - BY_THE_CLOCK
    assert [words_of(kind) for kind in WORDS] == list(WORDS.values())
