"""An index is made from the start where going on from the one before would be wrong."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from deltaweb.index.file_index import COMMITS, FILES, SUMMARY
from deltaweb.index.index_source import SOURCE
from tests.delta_logs import (
    Action,
    add,
    deletion_vector,
    metadata,
    protocol,
)
from tests.indexed_logs import DAY_MS, NOW_MS, SCHEMA, Indexed, file_of, vacuum_of


class TestWhatIsReadFromTheStart:
    @pytest.mark.parametrize(
        "actions",
        [
            pytest.param([vacuum_of("VACUUM START")], id="a VACUUM"),
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
        indexed.commit(file_of("a", 1))
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
            *(
                pytest.param(
                    lambda at, f=field, v=value: _change_summary(at, **{f: v}),
                    id=f"a summary whose {field} is {value}",
                )
                for field, value in (
                    ("version", "0"),
                    ("first_commit", "0"),
                    ("num_tombstones", "none"),
                    ("commit_digest", ["0"]),
                    ("summary", None),
                    ("summary", {"events": None}),
                    ("summary", {"events": [{"version": "0"}]}),
                    ("summary", {"events": [{}]}),
                )
            ),
            pytest.param(lambda at: (at / SOURCE).unlink(), id="without a source"),
            pytest.param(
                lambda at: (at / SOURCE).write_text(
                    (at / SOURCE).read_text().replace('"table"', "7")
                ),
                id="a source whose table is a number",
            ),
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
        indexed.commit(file_of("a", 1))

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
        indexed.commit(file_of("late", 1))
        indexed.log.checkpoint(5, *head, file_of("late", 1))

        result = indexed.index()

        assert (result.version, result.is_rewritten) == (5, False)
        assert result.summary["readable_runs"][1][2] == "GONE"


def _change_summary(folder: Path, **fields: object) -> None:
    values = json.loads((folder / SUMMARY).read_text())
    (folder / SUMMARY).write_text(json.dumps({**values, **fields}))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])
