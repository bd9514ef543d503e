"""A commit of another is looked at only as far as it can matter."""

from dataclasses import replace

from deltaweb.delta.log.commits.arrow_reader import CommitData
from deltaweb.delta.writing.concurrent_commits import may_define, parse_winner
from tests.support import cases
from tests.support.tables.written_tables import METADATA, PROTOCOL


@cases(
    "commit, expected",
    {
        "nothing": (b"", False),
        "a file of that name": (b'{"add":{"path":"metaData"}}\n', False),
        "elsewhere than in an action's name": (
            b'{"commitInfo":{"protocol":1}}\n{"txn":{"appId":"metaData"}}\n',
            False,
        ),
        "metaData": (b'{"add":{}}\n{"metaData":{"id":"1"}}', True),
        "protocol": (b'{"protocol":{}}\n', True),
        "a name that is escaped": (b'{"meta\\u0044ata":{}}\n', True),
        "half a line": (b'{"add":{"path":', True),
        "no action": (b"[1]\n", True),
        "what nests too deeply": (b'{"add":' + b"[" * 100_000, True),
    },
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
