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


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        pytest.param([b'{"add":{"path":"a"}}\n'], ["a"], id="plain"),
        pytest.param([b'{"add":{"path":"a"}}'], ["a"], id="no final newline"),
        pytest.param([b'{"add":{"path":"a"}}\r\n'], ["a"], id="CRLF"),
        pytest.param([b'\n\n{"add":{"path":"a"}}\n \n'], ["a"], id="blank lines"),
        pytest.param([b'  {"add":{"path":"a"}} \n'], ["a"], id="spaces around"),
        pytest.param([b'\xef\xbb\xbf{"add":{"path":"a"}}'], ["a"], id="a mark"),
        pytest.param([b'{"new":{"path":"a"}}\n'], [None], id="an unknown action"),
        pytest.param([b'{"add":{"path":"a","x":[{}]}}'], ["a"], id="unknown fields"),
        pytest.param([b""], [], id="an empty commit"),
        pytest.param([b"", b""], [], id="empty commits"),
        pytest.param(
            [b'{"add":{"path":"a"}}', b"", b'{"add":{"path":"b"}}'],
            ["a", "b"],
            id="commits that do not end their lines",
        ),
        pytest.param(
            [b'{"add":{"path":"a"}}\n', b'\n{"add":{"path":"b","size":1.0}}\n'],
            ["a", "b"],
            id="one odd commit beside a plain one",
        ),
        pytest.param(
            [b'{"add":{"path":"\\u0061\\"\\n"}}'], ['a"\n'], id="escapes in a path"
        ),
        pytest.param([b'{"add":{"path":"a"},"add":{"path":"b"}}'], ["b"], id="twice"),
    ],
)
def test_lines_are_rows(commits: list[bytes], expected: list[str]) -> None:
    assert paths(*commits) == expected


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        pytest.param("size", b"1.0", 1, id="a whole fraction"),
        pytest.param("size", b"1e3", 1000, id="an exponent"),
        pytest.param("size", b"9223372036854775807", 2**63 - 1, id="the largest long"),
        pytest.param("size", b"null", None, id="null"),
        pytest.param("dataChange", b"false", False, id="a truth"),
        pytest.param("partitionValues", b'{"p":1}', {"p": "1"}, id="a number"),
        pytest.param("partitionValues", b'{"p":true}', {"p": "true"}, id="true"),
        pytest.param("partitionValues", b'{"q":"1"}', {"p": None}, id="another key"),
        pytest.param("partitionValues", b"null", None, id="no values"),
    ],
)
def test_values_that_have_one_meaning_are_taken(field, text, expected):
    (add,) = parse(b'{"add":{"path":"a","' + field.encode() + b'":' + text + b"}}")

    assert add is not None
    assert add[field] == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'{"add":{"size":"1"}}', id="text for a number"),
        pytest.param(b'{"add":{"size":true}}', id="a truth for a number"),
        pytest.param(b'{"add":{"size":1.5}}', id="a fraction"),
        pytest.param(b'{"add":{"size":9223372036854775808}}', id="beyond a long"),
        pytest.param(b'{"add":{"dataChange":1}}', id="a number for a truth"),
        pytest.param(b'{"add":{"path":1}}', id="a number for text"),
        pytest.param(b'{"add":1}', id="a number for an object"),
        pytest.param(b"null", id="null"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"add":{}} {"add":{}}', id="two objects in a line"),
        pytest.param(b'{"add":{"path":"\xff"}}', id="not UTF-8"),
        pytest.param(b'{"add":{"path":"\\ud800"}}', id="half a pair"),
        pytest.param(b'{"add":', id="torn"),
    ],
)
def test_other_values_are_refused_and_the_commit_is_named(text: bytes) -> None:
    with pytest.raises(LogCorruptError) as caught:
        parse(b'{"add":{"path":"a"}}\n', text)

    assert caught.value.path == "1.json"


@pytest.mark.parametrize("action", ["add", "remove"])
@pytest.mark.parametrize(
    ("given", "text"),
    [
        pytest.param('{"numRecords": 3}', '{"numRecords":3}', id="a count"),
        pytest.param("{}", "{}", id="nothing"),
        pytest.param(
            '{"minValues": {"l": 9007199254740993, "d": 12345678901234567890.10}}',
            '{"minValues":{"l":9007199254740993,"d":12345678901234567890.10}}',
            id="numbers that a double does not hold",
        ),
        pytest.param('{"x": [NaN, 1e999, -0]}', '{"x":[NaN,1e999,-0]}', id="no double"),
        pytest.param(
            '{"\u00fc\\"": ["1", true, null, []]}',
            '{"\\u00fc\\"":["1",true,null,[]]}',
            id="texts and the rest",
        ),
        pytest.param('{"s": "\\ud800"}', '{"s":"\\ud800"}', id="half a pair"),
        pytest.param('" {} "', " {} ", id="text stays as it is"),
    ],
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
    @pytest.mark.parametrize(
        "odd",
        [
            pytest.param(b'{"n":123456789012345678901234567890}', id="a huge number"),
            pytest.param(b'{"n":-9223372036854775808}', id="the smallest long"),
            pytest.param(b' {"n":1}', id="a space before"),
            pytest.param(b'{"n":1,"n":2}', id="a key twice"),
            pytest.param(b'{"add":{"path":"\\u00e9"}}', id="text"),
        ],
    )
    def test_are_those_of_each_line(self, odd: bytes) -> None:
        commits = [
            CommitData("0", b'{"x":1}\n' * 3 + odd + b"\n"),
            CommitData("1", b""),
        ]
        batch = parse_actions(commits, SCHEMA)

        loaded = batch.load(np.arange(4))

        assert loaded == [load_line(batch.lines[row], name="") for row in range(4)]

    @pytest.mark.parametrize(
        "line",
        [
            pytest.param(b'{"x":"\xff"}', id="no UTF-8"),
            pytest.param(b'{"x":' + b"[" * 5000 + b"]" * 5000 + b"}", id="too deep"),
        ],
    )
    def test_name_the_commit_that_does_not_read(self, line: bytes) -> None:
        commits = [CommitData("first", b"{}\n"), CommitData("second", line + b"\n")]
        batch = parse_actions(commits, SCHEMA)

        with pytest.raises(LogCorruptError, match="second"):
            batch.load(np.arange(2))
