"""An index is made from the start where going on from the one before would be wrong."""

import json
from pathlib import Path

import pytest

from deltaweb.index.files.source import SOURCE
from deltaweb.index.folder.file_index import COMMITS, FILES, SUMMARY
from deltaweb.index.folder.manifest import MANIFEST, write_manifest
from tests.support import cases
from tests.support.logs.delta_logs import metadata, protocol
from tests.support.logs.indexed_logs import (
    DAY_MS,
    NOW_MS,
    SCHEMA,
    Indexed,
    file_of,
    vacuum_of,
)

pytestmark = pytest.mark.slow


class TestWhatIsReadFromTheStart:
    @cases(
        "actions",
        {
            "a VACUUM": [vacuum_of("VACUUM START")],
            "a newer reader": [protocol(99, 99)],
            "another id": [metadata("other", schemaString=SCHEMA)],
            "other partitions": [metadata(schemaString=SCHEMA, partitionColumns=[])],
            "mapped columns": [
                metadata(
                    schemaString=SCHEMA,
                    partitionColumns=["p"],
                    configuration={"delta.columnMapping.mode": "name"},
                )
            ],
        },
    )
    def test_is_a_log_whose_new_commits_change_the_old_ones(self, indexed, actions):
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

    @cases(
        "spoil",
        {
            "without a summary": lambda at: (at / SUMMARY).unlink(),
            "torn summary": lambda at: (at / SUMMARY).write_text("{"),
            "a summary of another form": lambda at: (at / SUMMARY).write_text(
                '{"state": "INDEXED", "x": 1}'
            ),
            "a summary that knows of no commit": lambda at: _change_summary(
                at, first_commit=None
            ),
            "a summary without events": lambda at: _change_summary(
                at, summary={"readable_runs": []}
            ),
            "runs of another form": lambda at: _change_summary(
                at, summary={"readable_runs": [["0"]]}
            ),
            **{
                f"a summary whose {field} is {value}": lambda at, f=field, v=value: (
                    _change_summary(at, **{f: v})
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
            },
            "without a source": lambda at: (at / SOURCE).unlink(),
            "a source whose table is a number": lambda at: (at / SOURCE).write_text(
                (at / SOURCE).read_text().replace('"table"', "7")
            ),
            "a source of another form": lambda at: (at / SOURCE).write_text(
                (at / SOURCE).read_text().replace('"form": 1', '"form": 99')
            ),
            **{
                f"torn {name}": lambda at, n=name: _cut(at / n)
                for name in (FILES, COMMITS, "metadata.arrow", "protocols.arrow")
            },
            "commits of other columns": lambda at: (at / COMMITS).write_bytes(
                (at / FILES).read_bytes()
            ),
        },
    )
    def test_is_the_log_of_an_index_that_is_not_whole(self, indexed, spoil):
        assert indexed.folder is not None
        spoil(indexed.folder)
        _seal_again(indexed.folder)
        indexed.commit(file_of("a", 1))

        result = indexed.index()

        assert not indexed.has_gone_on
        assert (result.version, result.is_rewritten) == (1, False)
        indexed.assert_is_what_the_log_gives()

    @pytest.mark.parametrize("name", [FILES, COMMITS, SUMMARY, SOURCE])
    @pytest.mark.parametrize("commits", [0, 1])
    def test_is_the_log_of_an_index_on_a_disk_that_forgot_a_bit(
        self, indexed: Indexed, name: str, commits: int
    ) -> None:
        assert indexed.folder is not None
        _change_a_letter(indexed.folder / name)
        for number in range(commits):
            indexed.commit(file_of(f"new-{number}", 1))

        result = indexed.index()

        assert (result.version, result.is_rewritten) == (commits, False)
        indexed.assert_is_what_the_log_gives()

    @pytest.mark.parametrize(
        "spoil",
        [
            pytest.param(lambda at: (at / MANIFEST).unlink(), id="none"),
            pytest.param(
                lambda at: (at / MANIFEST).write_bytes(b""), id="an empty one"
            ),
            pytest.param(lambda at: (at / MANIFEST).write_text("[]"), id="a list"),
            pytest.param(
                lambda at: (at / MANIFEST).write_text("{}"), id="one of no file"
            ),
            pytest.param(
                lambda at: (at / MANIFEST).write_text(f'{{"{FILES}": 7}}'), id="numbers"
            ),
            pytest.param(
                # as a machine leaves it that goes down before the disk has the bytes
                lambda at: [path.write_bytes(b"") for path in at.iterdir()],
                id="empty as all else",
            ),
        ],
    )
    def test_is_the_log_of_an_index_whose_seal_is(self, indexed, spoil):
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


def _seal_again(folder: Path) -> None:
    """Let the checksums fit what a program, and no disk, has changed."""
    (folder / MANIFEST).unlink()
    write_manifest(folder)


def _change_a_letter(path: Path) -> None:
    """Make another letter of one in the middle of a text, as one bit does."""
    before = path.read_bytes()
    text = {FILES: b"p=3/3", COMMITS: b"Added", SUMMARY: b"table", SOURCE: b"table"}
    at = before.index(text[path.name])
    path.write_bytes(before[:at] + bytes([before[at] ^ 1]) + before[at + 1 :])


def _change_summary(folder: Path, **fields: object) -> None:
    values = json.loads((folder / SUMMARY).read_text())
    (folder / SUMMARY).write_text(json.dumps({**values, **fields}))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])
