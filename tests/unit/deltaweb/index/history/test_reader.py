import pytest

from deltaweb.delta.log.commits.batch import read_commit_batches
from deltaweb.delta.log.segment import VersionRun
from deltaweb.index.history.commit_part import commit_part
from deltaweb.index.history.reader import RunActions
from tests.support import cases
from tests.support.logs.delta_logs import LogBuilder, add

RUNS = [VersionRun(0, 3), VersionRun(5, 9)]


def taken(builder: LogBuilder, limit: int = 100) -> RunActions:
    """Take the commits of both runs, in parts that do not end where runs do."""
    actions = RunActions(RUNS, limit)
    for versions in ((0, 1), (2, 3, 5, 6), (7,), (8, 9)):
        for batch in read_commit_batches(builder.store, versions):
            actions.take(commit_part(batch))
    return actions


@pytest.fixture
def builder() -> LogBuilder:
    built = LogBuilder().start(add("0"))
    for version in (1, 2, 3, 5, 6, 7, 8, 9):
        built.commit(version, add(str(version)))
    return built


def keys(actions: RunActions, run: VersionRun) -> list[str] | None:
    parts = actions.of(run)
    if parts is None:
        return None
    return [key for part in parts for key in part.keys.to_pylist()]


@cases(
    "run, held",
    {
        "a run": (VersionRun(0, 3), "0123"),
        "the next run": (VersionRun(5, 9), "56789"),
        "some versions of one": (VersionRun(6, 8), "678"),
        "no version": (VersionRun(9, 8), ""),
        "no run": (VersionRun(4, 4), ""),
    },
)
def test_holds_the_actions_of_each_run(builder: LogBuilder, run: VersionRun, held: str):
    assert keys(taken(builder), run) == list(held)


def test_holds_none_of_a_run_that_has_too_many(builder: LogBuilder) -> None:
    actions = taken(builder, limit=4)

    assert keys(actions, RUNS[0]) == list("0123")
    assert actions.of(RUNS[1]) is None


def test_knows_nothing_where_a_commit_does_not_tell_of_which_files(builder: LogBuilder):
    builder.commit(7, add("7", deletionVector="u"))

    actions = taken(builder)

    assert actions.of(RUNS[1]) is None
    assert keys(actions, VersionRun(8, 9)) == list("89")
