"""Going on from an index reads what is new, and stops where that would be wrong."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deltaweb.delta.log_path import checkpoint_name, commit_name
from deltaweb.index import new_commits
from deltaweb.index.build import LogTooLargeError, index_table
from deltaweb.index.file_index import COMMITS, FILES, SUMMARY, open_index
from deltaweb.index.index_result import IndexResult
from deltaweb.index.index_source import SOURCE
from tests.counting_store import CountingStore
from tests.delta_logs import (
    Action,
    LogBuilder,
    add,
    deletion_vector,
    metadata,
    protocol,
    remove,
)
from tests.index_folders import commit_rows, contents
from tests.local_logs import stats_of, typed_schema

NOW_MS = 1_800_000_000_000
DAY_MS = 86_400_000
SCHEMA = typed_schema(id="long", p="integer")


class Indexed:
    """A table whose every index goes on from the one before."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = CountingStore()
        self.log = LogBuilder(self.store)
        self.folder: Path | None = None
        self.result: IndexResult | None = None
        self.now_ms = NOW_MS
        self.version = -1
        self.commit(
            protocol(),
            metadata(schemaString=SCHEMA, partitionColumns=["p"]),
            *(_file(f"p={n}/{n}", n) for n in range(8)),
        )

    def commit(self, *actions: Action) -> "Indexed":
        self.version += 1
        self.log.commit(self.version, *actions)
        self.log.time(self.version, NOW_MS - DAY_MS + self.version)
        return self

    def index(self, max_bytes: int | None = None) -> IndexResult:
        """Go on from the last index; count what that reads."""
        folder = self.home / f"at-{len([*self.home.iterdir()])}"
        self.store.forget()
        self.result = index_table(
            self.log.table,
            folder,
            now_ms=self.now_ms,
            base=self.folder,
            max_bytes=max_bytes,
        )
        self.folder = folder
        return self.result

    @property
    def has_gone_on(self) -> bool:
        """Whether the last index read no more than was new."""
        return len(self.store.listings) == 1

    def assert_is_what_the_log_gives(self) -> None:
        assert self.folder is not None
        fresh = self.folder.with_name(f"{self.folder.name}-fresh")
        index_table(self.log.table, fresh, now_ms=self.now_ms)
        assert contents(self.folder) == contents(fresh)


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    table = Indexed(tmp_path)
    table.index()
    return table


def _file(path: str, number: int, **fields: object) -> Action:
    stats = stats_of(10, {"id": number}, {"id": number + 9})
    values = {"p": str(number)}
    return add(path, size=100 + number, stats=stats, partitionValues=values, **fields)


def _vacuum(operation: str) -> Action:
    parameters = {"specifiedRetentionMillis": "0"}
    return {"commitInfo": {"operation": operation, "operationParameters": parameters}}


class TestWhatIsRead:
    def test_is_each_new_commit_once(self, indexed: Indexed) -> None:
        indexed.commit(_file("a", 1)).commit(remove("p=1/1")).commit(_file("b", 2))

        indexed.index()

        assert indexed.store.reads == [commit_name(number) for number in (1, 2, 3)]
        assert indexed.store.heads == [commit_name(0)]
        assert len(indexed.store.listings) == 1
        assert indexed.store.looks == [commit_name(3)]
        indexed.assert_is_what_the_log_gives()

    def test_is_parted_where_it_is_much(
        self, indexed: Indexed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(new_commits, "CHUNK_COMMITS", 1)
        indexed.commit(_file("a", 1)).commit(remove("a"), _file("b", 2))
        indexed.commit(_file("a", 3), remove("p=1/1")).commit(remove("b"))

        indexed.index()

        names = [commit_name(number) for number in (1, 2, 3, 4)]
        assert indexed.store.reads == names
        indexed.assert_is_what_the_log_gives()

    def test_is_the_whole_log_where_too_much_is_new(
        self, indexed: Indexed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(new_commits, "MAX_FILE_ACTIONS", 1)
        indexed.commit(_file("a", 1), _file("b", 2))

        indexed.index()

        assert not indexed.has_gone_on
        indexed.assert_is_what_the_log_gives()

    def test_is_no_commit_where_none_is_new(self, indexed: Indexed) -> None:
        indexed.commit(_file("a", 1)).index()
        indexed.now_ms += 3 * DAY_MS

        result = indexed.index()

        assert indexed.store.reads == []
        assert indexed.store.heads == [commit_name(1)]
        assert len(indexed.store.listings) == 1
        assert indexed.store.looks == [commit_name(0)]  # has the log been cleaned?
        assert sum(result.summary["commits_30d"][:-3]) == 2
        indexed.assert_is_what_the_log_gives()

    def test_is_no_more_of_a_storage_that_tells_times_in_two_ways(
        self, indexed: Indexed
    ) -> None:
        indexed.log.time(0, NOW_MS - DAY_MS + 999)  # it said a whole second before
        indexed.commit(_file("a", 1))

        indexed.index()

        assert indexed.has_gone_on

    def test_is_no_checkpoint(self, indexed: Indexed) -> None:
        indexed.commit(_file("a", 1))
        indexed.log.checkpoint(1, protocol(), metadata(), add("another"))
        indexed.commit(_file("b", 1))

        indexed.index()

        assert indexed.store.reads == [commit_name(1), commit_name(2)]

    def test_is_not_copied_where_no_file_came_or_went(self, indexed: Indexed) -> None:
        before = indexed.folder
        assert before is not None
        indexed.commit({"commitInfo": {"operation": "SET TBLPROPERTIES"}})

        result = indexed.index()

        assert Path(result.folder, FILES).samefile(before / FILES)
        indexed.assert_is_what_the_log_gives()

    def test_may_have_no_more_bytes_than_were_allowed(self, indexed: Indexed) -> None:
        indexed.commit(_file("a", 1))
        new, old = (len(indexed.store.log_files[commit_name(v)]) for v in (1, 0))
        assert new < old

        indexed.index(max_bytes=new)

        assert indexed.has_gone_on
        indexed.commit(_file("b", 1))
        with pytest.raises(LogTooLargeError):
            indexed.index(max_bytes=new - 1)


class TestWhatIsGoneOnFrom:
    @pytest.mark.parametrize(
        "actions",
        [
            pytest.param([_file("new", 9)], id="an append"),
            pytest.param([remove("p=1/1"), remove("p=2/2")], id="a delete"),
            pytest.param(
                [*(remove(f"p={n}/{n}") for n in range(8)), _file("all", 3)],
                id="an overwrite",
            ),
            pytest.param([remove(f"p={n}/{n}") for n in range(8)], id="a truncation"),
            pytest.param(
                [
                    remove("p=1/1", dataChange=False),
                    remove("p=2/2", dataChange=False),
                    _file("p=1/small", 1, dataChange=False),
                ],
                id="an OPTIMIZE",
            ),
            pytest.param([_file("p=3/3", 30)], id="statistics made anew"),
            pytest.param([remove("never there")], id="a remove of no file"),
            pytest.param(
                [
                    metadata(
                        schemaString=typed_schema(id="long", p="integer", more="date"),
                        partitionColumns=["p"],
                    )
                ],
                id="a new column",
            ),
            pytest.param(
                [
                    metadata(
                        schemaString=typed_schema(id="string", p="long"),
                        partitionColumns=["p"],
                    )
                ],
                id="other types",
            ),
            pytest.param(
                [
                    metadata(
                        schemaString=SCHEMA,
                        partitionColumns=["p"],
                        configuration={"delta.dataSkippingNumIndexedCols": "0"},
                    )
                ],
                id="fewer columns with statistics",
            ),
            pytest.param([protocol(1, 4)], id="another protocol that is read"),
            pytest.param(
                [add("odd", partitionValues={"p": "seven"})],
                id="a value that is not of its type",
            ),
            pytest.param([_vacuum("VACUUM END")], id="the end of a VACUUM"),
        ],
    )
    def test_is_the_usual(self, indexed: Indexed, actions: list[Action]) -> None:
        indexed.commit(*actions).index()

        assert indexed.has_gone_on
        indexed.assert_is_what_the_log_gives()
        indexed.commit(remove("odd"), _file("last", 5)).index()
        assert indexed.has_gone_on
        indexed.assert_is_what_the_log_gives()


def _raise_version(values: dict[str, object]) -> None:
    values["form"] = 99


class TestWhatIsReadFromTheStart:
    @pytest.mark.parametrize(
        "actions",
        [
            pytest.param([_vacuum("VACUUM START")], id="a VACUUM"),
            pytest.param(
                [add("v", deletionVector=deletion_vector("dv"))],
                id="files with deletion vectors",
            ),
            pytest.param([protocol(99, 99)], id="a newer reader"),
            pytest.param([metadata("other", schemaString=SCHEMA)], id="another id"),
            pytest.param(
                [metadata(schemaString=SCHEMA, partitionColumns=[])],
                id="other partitions",
            ),
            pytest.param(
                [
                    metadata(
                        schemaString=SCHEMA,
                        partitionColumns=["p"],
                        configuration={"delta.columnMapping.mode": "name"},
                    )
                ],
                id="mapped columns",
            ),
        ],
    )
    def test_is_a_log_whose_new_commits_change_the_old_ones(
        self, indexed: Indexed, actions: list[Action]
    ) -> None:
        indexed.commit(*actions)

        result = indexed.index()

        assert not indexed.has_gone_on
        assert not result.is_rewritten
        indexed.assert_is_what_the_log_gives()

    def test_is_a_log_that_breaks(self, indexed: Indexed) -> None:
        indexed.commit(_file("a", 1))
        indexed.log.raw_commit(2, b"{torn")

        result = indexed.index()

        assert (result.version, result.is_broken) == (1, True)
        indexed.assert_is_what_the_log_gives()

    @pytest.mark.parametrize(
        "spoil",
        [
            pytest.param(lambda at: (at / SUMMARY).unlink(), id="without a summary"),
            pytest.param(lambda at: (at / SUMMARY).write_text("{"), id="torn summary"),
            pytest.param(
                lambda at: (at / SUMMARY).write_text('{"state": "INDEXED", "x": 1}'),
                id="a summary of another form",
            ),
            pytest.param(
                lambda at: _change_summary(at, first_commit=None),
                id="a summary that knows of no commit",
            ),
            pytest.param(
                lambda at: _change_summary(at, summary={"readable_runs": []}),
                id="a summary without events",
            ),
            pytest.param(
                lambda at: _change_summary(at, summary={"readable_runs": [["0"]]}),
                id="runs of another form",
            ),
            pytest.param(lambda at: (at / SOURCE).unlink(), id="without a source"),
            pytest.param(
                lambda at: (at / SOURCE).write_text(
                    (at / SOURCE).read_text().replace('"form": 1', '"form": 99')
                ),
                id="a source of another form",
            ),
            *(
                pytest.param(lambda at, n=name: _cut(at / n), id=f"torn {name}")
                for name in (FILES, COMMITS, "metadata.arrow", "protocols.arrow")
            ),
            pytest.param(
                lambda at: (at / COMMITS).write_bytes((at / FILES).read_bytes()),
                id="commits of other columns",
            ),
        ],
    )
    def test_is_the_log_of_an_index_that_is_not_whole(
        self, indexed: Indexed, spoil: Callable[[Path], object]
    ) -> None:
        assert indexed.folder is not None
        spoil(indexed.folder)
        indexed.commit(_file("a", 1))

        result = indexed.index()

        assert not indexed.has_gone_on
        assert (result.version, result.is_rewritten) == (1, False)
        indexed.assert_is_what_the_log_gives()

    def test_is_the_log_of_no_index(self, indexed: Indexed, tmp_path: Path) -> None:
        indexed.folder = tmp_path / "nowhere"

        result = indexed.index()

        assert (result.version, result.is_rewritten) == (0, False)
        indexed.assert_is_what_the_log_gives()

    def test_is_a_log_whose_times_were_changed(self, indexed: Indexed) -> None:
        indexed.log.time(0, NOW_MS - 9 * DAY_MS)

        result = indexed.index()

        assert not result.is_rewritten
        indexed.assert_is_what_the_log_gives()

    def test_is_a_log_that_goes_on_behind_a_gap(self, indexed: Indexed) -> None:
        head = [protocol(), metadata(schemaString=SCHEMA, partitionColumns=["p"])]
        indexed.version = 4
        indexed.commit(_file("late", 1))
        indexed.log.checkpoint(5, *head, _file("late", 1))

        result = indexed.index()

        assert (result.version, result.is_rewritten) == (5, False)
        assert result.summary["readable_runs"][1][2] == "GONE"


def _change_summary(folder: Path, **fields: object) -> None:
    values = json.loads((folder / SUMMARY).read_text())
    (folder / SUMMARY).write_text(json.dumps({**values, **fields}))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


class TestALogThatWasCleaned:
    @pytest.fixture
    def cleaned(self, indexed: Indexed) -> Indexed:
        """Versions 0 to 2, of which only the last one can still be built."""
        indexed.commit(_file("a", 1)).commit(_file("b", 1)).index()
        files = [_file(f"p={n}/{n}", n) for n in range(8)]
        head = [protocol(), metadata(schemaString=SCHEMA, partitionColumns=["p"])]
        everything = [*head, *files, _file("a", 1), _file("b", 1)]
        indexed.log.checkpoint(2, *everything)
        for version in (0, 1):
            indexed.log.delete(commit_name(version))
        return indexed

    def test_is_gone_on_from(self, cleaned: Indexed) -> None:
        cleaned.commit(_file("c", 1))

        result = cleaned.index()

        assert cleaned.store.reads == [commit_name(3)]
        assert (result.first_commit, result.is_rewritten) == (2, False)
        rows = commit_rows(Path(result.folder))
        assert [row["version"] for row in rows] == [0, 1, 2, 3]
        states = [row["readability"] for row in rows]
        assert states == ["GONE", "GONE", "READABLE", "READABLE"]
        assert [row["num_files"] for row in rows] == [8, 9, 10, 11]
        runs = [run[:3] for run in result.summary["readable_runs"]]
        assert runs == [[0, 1, "GONE"], [2, 3, "READABLE"]]
        assert result.summary["earliest_version"] == 2

    def test_with_holes_is_read_from_the_start(self, cleaned: Indexed) -> None:
        head = [protocol(), metadata(schemaString=SCHEMA, partitionColumns=["p"])]
        cleaned.log.checkpoint(0, *head)
        cleaned.commit(_file("c", 1))

        result = cleaned.index()

        assert not cleaned.has_gone_on
        runs = [run[:3] for run in result.summary["readable_runs"]]
        assert runs == [[0, 1, "GONE"], [2, 3, "READABLE"]]

    def test_once_known_is_not_listed_again(self, cleaned: Indexed) -> None:
        cleaned.index()
        assert len(cleaned.store.listings) == 2

        cleaned.commit(_file("c", 1)).index()

        assert cleaned.has_gone_on

    def test_keeps_its_old_commits_when_it_is_read_from_the_start(
        self, cleaned: Indexed
    ) -> None:
        cleaned.commit(_vacuum("VACUUM START"))

        result = cleaned.index()

        rows = commit_rows(Path(result.folder))
        assert [row["version"] for row in rows] == [0, 1, 2, 3]
        assert [row["readability"] for row in rows[:2]] == ["GONE", "GONE"]
        assert sum(result.summary["commits_30d"]) == 4
        assert not result.is_rewritten

    def test_beyond_the_indexed_version_is_the_same_log(self, indexed: Indexed) -> None:
        indexed.commit(remove("p=0/0")).commit(_file("b", 1))
        head = [protocol(), metadata(schemaString=SCHEMA, partitionColumns=["p"])]
        indexed.log.checkpoint(2, *head, _file("b", 1))
        for version in (0, 1):
            indexed.log.delete(commit_name(version))

        result = indexed.index()

        assert (result.version, result.num_files) == (2, 1)
        assert (result.first_commit, result.is_rewritten) == (2, False)
        rows = commit_rows(Path(result.folder))
        assert [row["version"] for row in rows] == [0, 2]
        assert [row["readability"] for row in rows] == ["GONE", "READABLE"]


class TestARewrittenLog:
    def test_has_another_commit_at_the_indexed_version(self, indexed: Indexed) -> None:
        indexed.commit(_file("a", 1)).index()
        indexed.version = 0
        indexed.commit(_file("b", 1)).commit(_file("c", 1))

        result = indexed.index()

        assert (result.version, result.is_rewritten) == (2, True)
        indexed.assert_is_what_the_log_gives()

    def test_ends_before_the_indexed_version(self, indexed: Indexed) -> None:
        indexed.commit(_file("a", 1)).commit(_file("b", 1)).index()
        indexed.log.delete(commit_name(2))

        result = indexed.index()

        assert (result.version, result.is_rewritten) == (1, True)
        indexed.assert_is_what_the_log_gives()

    def test_is_of_another_table(self, indexed: Indexed) -> None:
        indexed.commit(_file("a", 1)).index()
        indexed.version = -1
        indexed.commit(protocol(), metadata("new", schemaString=SCHEMA))
        indexed.commit(_file("a", 1))  # the same bytes, at another time
        indexed.log.time(1, NOW_MS)

        result = indexed.index()

        assert (result.version, result.is_rewritten) == (1, True)
        indexed.assert_is_what_the_log_gives()

    def test_is_noticed_where_the_index_holds_no_files(self, indexed: Indexed) -> None:
        indexed.commit(protocol(99, 99)).index()
        indexed.version = 0
        indexed.commit(protocol(98, 98))

        assert indexed.index().is_rewritten

    def test_is_not_one_that_a_commit_replaced(self, indexed: Indexed) -> None:
        indexed.commit(metadata("replaced", schemaString=SCHEMA))

        assert not indexed.index().is_rewritten


def test_the_facts_of_the_index_are_those_of_the_result(indexed: Indexed) -> None:
    result = indexed.commit(_file("a", 1)).index()

    assert open_index(result.folder).summary == result.to_json()
    assert IndexResult.from_json(json.loads(json.dumps(result.to_json()))) == result
    assert replace(result, first_commit=None) != result
    assert checkpoint_name(1) not in indexed.store.log_files
