import json

import numpy as np
import pyarrow as pa
import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.commits.arrow_reader import (
    CommitData,
    load_line,
    parse_actions,
    parse_certain,
)
from deltaweb.delta.log.commits.fields import PRESENCE
from tests.support import cases

ADD = pa.struct(
    [
        ("path", pa.string()),
        ("size", pa.int64()),
        ("dataChange", pa.bool_()),
        ("partitionValues", pa.struct([("p", pa.string())])),
    ]
)
SCHEMA = pa.schema([("add", ADD), ("metaData", PRESENCE)])


def parse(*commits: bytes) -> list[dict[str, object] | None]:
    """Return the adds of all lines."""
    data = [CommitData(f"{n}.json", commit) for n, commit in enumerate(commits)]
    adds: list[dict[str, object] | None]
    adds = parse_actions(data, SCHEMA).table["add"].to_pylist()
    return adds


def paths(*commits: bytes) -> list[object]:
    return [add and add["path"] for add in parse(*commits)]


@cases(
    "commits, expected",
    {
        "plain": ([b'{"add":{"path":"a"}}\n'], ["a"]),
        "no final newline": ([b'{"add":{"path":"a"}}'], ["a"]),
        "CRLF": ([b'{"add":{"path":"a"}}\r\n'], ["a"]),
        "blank lines": ([b'\n\n{"add":{"path":"a"}}\n \n'], ["a"]),
        "spaces around": ([b'  {"add":{"path":"a"}} \n'], ["a"]),
        "a mark": ([b'\xef\xbb\xbf{"add":{"path":"a"}}'], ["a"]),
        "an unknown action": ([b'{"new":{"path":"a"}}\n'], [None]),
        "unknown fields": ([b'{"add":{"path":"a","x":[{}]}}'], ["a"]),
        "an empty commit": ([b""], []),
        "empty commits": ([b"", b""], []),
        "commits that do not end their lines": (
            [b'{"add":{"path":"a"}}', b"", b'{"add":{"path":"b"}}'],
            ["a", "b"],
        ),
        "one odd commit beside a plain one": (
            [b'{"add":{"path":"a"}}\n', b'\n{"add":{"path":"b","size":1.0}}\n'],
            ["a", "b"],
        ),
        "escapes in a path": ([b'{"add":{"path":"\\u0061\\"\\n"}}'], ['a"\n']),
        "twice": ([b'{"add":{"path":"a"},"add":{"path":"b"}}'], ["b"]),
    },
)
def test_lines_are_rows(commits: list[bytes], expected: list[str]) -> None:
    assert paths(*commits) == expected


@cases(
    "field, text, expected",
    {
        "a whole fraction": ("size", b"1.0", 1),
        "an exponent": ("size", b"1e3", 1000),
        "the largest long": ("size", b"9223372036854775807", 2**63 - 1),
        "null": ("size", b"null", None),
        "a truth": ("dataChange", b"false", False),
        "a number": ("partitionValues", b'{"p":1}', {"p": "1"}),
        "true": ("partitionValues", b'{"p":true}', {"p": "true"}),
        "another key": ("partitionValues", b'{"q":"1"}', {"p": None}),
        "no values": ("partitionValues", b"null", None),
    },
)
def test_values_that_have_one_meaning_are_taken(field, text, expected):
    (add,) = parse(b'{"add":{"path":"a","' + field.encode() + b'":' + text + b"}}")

    assert add is not None
    assert add[field] == expected


@cases(
    "text",
    {
        "text for a number": b'{"add":{"size":"1"}}',
        "a truth for a number": b'{"add":{"size":true}}',
        "a fraction": b'{"add":{"size":1.5}}',
        "beyond a long": b'{"add":{"size":9223372036854775808}}',
        "a number for a truth": b'{"add":{"dataChange":1}}',
        "a number for text": b'{"add":{"path":1}}',
        "a number for an object": b'{"add":1}',
        "null": b"null",
        "a list": b"[]",
        "two objects in a line": b'{"add":{}} {"add":{}}',
        "not UTF-8": b'{"add":{"path":"\xff"}}',
        "half a pair": b'{"add":{"path":"\\ud800"}}',
        "torn": b'{"add":',
    },
)
def test_other_values_are_refused_and_the_commit_is_named(text: bytes) -> None:
    with pytest.raises(LogCorruptError) as caught:
        parse(b'{"add":{"path":"a"}}\n', text)

    assert caught.value.path == "1.json"


@pytest.mark.parametrize("action", ["add", "remove"])
@cases(
    "given, text",
    {
        "a count": ('{"numRecords": 3}', '{"numRecords":3}'),
        "nothing": ("{}", "{}"),
        "numbers that a double does not hold": (
            '{"minValues": {"l": 9007199254740993, "d": 12345678901234567890.10}}',
            '{"minValues":{"l":9007199254740993,"d":12345678901234567890.10}}',
        ),
        "no double": ('{"x": [NaN, 1e999, -0]}', '{"x":[NaN,1e999,-0]}'),
        "texts and the rest": (
            '{"\u00fc\\"": ["1", true, null, []]}',
            '{"\\u00fc\\"":["1",true,null,[]]}',
        ),
        "half a pair": ('{"s": "\\ud800"}', '{"s":"\\ud800"}'),
        "text stays as it is": ('" {} "', " {} "),
    },
)
def test_statistics_that_are_an_object_become_its_text(action, given, text):
    schema = pa.schema([(action, pa.struct([("stats", pa.string())]))])
    lines = f'{{"{action}":{{"stats":"{{}}"}}}}\n{{"{action}":{{"stats":{given}}}}}\n'
    commits = [CommitData("0", lines.encode()), CommitData("1", b'{"x":1}\n')]

    batch = parse_actions(commits, schema)

    assert (parse_certain(commits, schema) is None) == (given[0] == "{")
    assert batch.table[action].to_pylist() == [{"stats": "{}"}, {"stats": text}, None]
    assert batch.row_ends.tolist() == [2, 3]


@pytest.mark.parametrize("stats", ["1", "true", "[]", "[" * 9000 + "]" * 9000])
def test_statistics_that_are_something_else_are_refused(stats: str) -> None:
    schema = pa.schema([("add", pa.struct([("stats", pa.string())]))])
    line = f'{{"add":{{"stats":{stats}}}}}'.encode()

    with pytest.raises(LogCorruptError):
        parse_actions([CommitData("0", line)], schema)


def test_statistics_that_nest_too_deeply_are_refused() -> None:
    schema = pa.schema([("add", pa.struct([("stats", pa.string())]))])
    line = '{"add":{"stats":{"a":' + "[" * 990 + "]" * 990 + "}}}"

    with pytest.raises(LogCorruptError, match="too deeply"):
        parse_actions([CommitData("0", line.encode())], schema)


def test_a_long_line_beside_short_ones() -> None:
    long = json.dumps({"add": {"path": "x" * (5 << 20)}}).encode()

    assert [len(str(path)) for path in paths(b'{"add":{"path":"a"}}', long)] == [
        1,
        5 << 20,
    ]


def test_rows_lead_to_their_lines_and_commits() -> None:
    commits = [
        CommitData("0", b'{"metaData":{"id":"a"}}\n{"add":{"path":"x"}}'),
        CommitData("1", b""),
        CommitData("2", b'\n{"metaData":{}}\n'),
    ]

    batch = parse_actions(commits, SCHEMA)

    assert batch.row_ends.tolist() == [2, 2, 3]
    assert batch.lines[0] == b'{"metaData":{"id":"a"}}'
    assert batch.lines[2] == b'{"metaData":{}}'
    assert len(batch.lines) == 3
    assert batch.table["metaData"].is_valid().to_pylist() == [True, False, True]


def test_a_line_is_an_object() -> None:
    assert load_line(b'{"a": 1}', name="0") == {"a": 1}
    assert load_line(b'{"a": ' + b"9" * 5000 + b"}", name="0") == {"a": float("inf")}
    with pytest.raises(LogCorruptError):
        load_line(b"1", name="0")


@pytest.mark.parametrize("info", ['[1, {"a": 2}]', '"text"', "5", "null", "[]"])
def test_commit_information_of_any_kind_is_no_fault(info: str) -> None:
    commit = CommitData("2.json", f'{{"commitInfo": {info}}}\n'.encode())

    batch = parse_actions([commit], pa.schema({"commitInfo": PRESENCE}))

    assert batch.table["commitInfo"].to_pylist() == [None]


class TestLoadRows:
    @cases(
        "odd",
        {
            "a huge number": b'{"n":123456789012345678901234567890}',
            "the smallest long": b'{"n":-9223372036854775808}',
            "a space before": b' {"n":1}',
            "a key twice": b'{"n":1,"n":2}',
            "text": b'{"add":{"path":"\\u00e9"}}',
        },
    )
    def test_are_those_of_each_line(self, odd: bytes) -> None:
        commits = [
            CommitData("0", b'{"x":1}\n' * 3 + odd + b"\n"),
            CommitData("1", b""),
        ]
        batch = parse_actions(commits, SCHEMA)

        loaded = batch.load(np.arange(4))

        assert loaded == [load_line(batch.lines[row], name="") for row in range(4)]

    @cases(
        "line",
        {
            "no UTF-8": b'{"x":"\xff"}',
            "too deep": b'{"x":' + b"[" * 5000 + b"]" * 5000 + b"}",
        },
    )
    def test_name_the_commit_that_does_not_read(self, line: bytes) -> None:
        commits = [CommitData("first", b"{}\n"), CommitData("second", line + b"\n")]
        batch = parse_actions(commits, SCHEMA)

        with pytest.raises(LogCorruptError, match="second"):
            batch.load(np.arange(2))
