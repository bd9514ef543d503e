"""A commit of another is looked at only as far as it can matter."""

from dataclasses import replace

import pytest

from deltaweb.delta.log.commits.arrow_reader import CommitData
from deltaweb.delta.writing.concurrent_commits import may_define, parse_winner
from tests.support.tables.written_tables import METADATA, PROTOCOL


@pytest.mark.parametrize(
    ("commit", "expected"),
    [
        pytest.param(b"", False, id="nothing"),
        pytest.param(b'{"add":{"path":"metaData"}}\n', False, id="a file of that name"),
        pytest.param(
            b'{"commitInfo":{"protocol":1}}\n{"txn":{"appId":"metaData"}}\n',
            False,
            id="elsewhere than in an action's name",
        ),
        pytest.param(b'{"add":{}}\n{"metaData":{"id":"1"}}', True, id="metaData"),
        pytest.param(b'{"protocol":{}}\n', True, id="protocol"),
        pytest.param(b'{"meta\\u0044ata":{}}\n', True, id="a name that is escaped"),
        pytest.param(b'{"add":{"path":', True, id="half a line"),
        pytest.param(b"[1]\n", True, id="no action"),
        pytest.param(b'{"add":' + b"[" * 100_000, True, id="what nests too deeply"),
    ],
)
def test_tells_whether_it_may_change_what_holds(commit: bytes, *, expected: bool):
    assert may_define(commit) is expected


def test_one_that_changes_part_of_what_holds_is_judged_with_what_was_left() -> None:
    nothing = parse_winner(CommitData("5.json", b'{"commitInfo":{}}\n'), 5, [])
    upgrade = replace(nothing, protocol=PROTOCOL)
    change = replace(nothing, metadata=METADATA)

    assert change.on_top_of(upgrade).protocol == PROTOCOL
    assert upgrade.on_top_of(change).metadata == METADATA
    assert nothing.on_top_of(upgrade) is nothing
    assert change.on_top_of(None) is change
