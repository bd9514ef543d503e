"""What is cut from a line of the log is what its JSON says."""

import json
from typing import Any

import pytest

from deltaweb.delta.log.commits.arrow_reader import load_json
from deltaweb.delta.log.commits.provenance import (
    Provenances,
    RawProvenance,
    cut_provenance,
    load_object,
    load_objects,
    write_provenance,
)
from deltaweb.delta.protocol.actions import parse_provenance
from tests.support import cases

STRICT = {
    "nothing": "{}",
    "all of it": '{"operation":"WRITE","operationParameters":{"mode":"Append"},'
    '"operationMetrics":{"numFiles":"1","n":2.5},"engineInfo":"e","userName":"u"}',
    "a user by number": '{"userId":"7","userName":""}',
    "objects that are none": '{"operationParameters":[1],"operationMetrics":"x"}',
    "nulls": '{"operation":null,"operationParameters":null,"userName":null}',
    "keys twice": '{"operation":"a","operation":"b","operationMetrics":{"a":1},'
    '"operationMetrics":{"b":{"c":[]}}}',
    "white space": '{ "operationMetrics" : \t {"a" : 1} , "operation" : "x" }',
    "escapes": '{"oper\\u0061tion":"\\u00e9\\n","operationMetrics":{"\\"":"\\\\"}}',
    "other keys": '{"isBlindAppend":true,"readVersion":-1e3,"tags":{"a":["b"]}}',
    "any Unicode": '{"userName":"Łukasz 😀","operationParameters":{"é":"😀"}}',
}
LOOSE = {
    "a name that is no text": '{"operation":5}',
    "no number": '{"operationMetrics":{"a":NaN,"b":-Infinity}}',
    "half a character": '{"engineInfo":"\\ud800"}',
    "half a character within": '{"operationMetrics":{"a":"\\ud800"}}',
}


def line(info: str) -> bytes:
    return b'{"commitInfo":%s}' % info.encode()


def values(cut: RawProvenance) -> tuple[Any, ...]:
    one = Provenances.of([cut])
    objects = [load_object(text) for text in (*one.parameters, *one.metrics)]
    return (*one.operations, *objects, *one.engine_infos, *one.users)


def said(info: str) -> tuple[Any, ...]:
    found = parse_provenance(load_json(line(info))["commitInfo"])
    return tuple(found)


@pytest.mark.parametrize("info", STRICT.values(), ids=STRICT)
def test_strict_json_is_cut_from_its_line(info: str) -> None:
    cut = cut_provenance([line("{}"), line(info)])

    assert cut is not None
    assert values(cut[1]) == said(info)


@pytest.mark.parametrize("info", LOOSE.values(), ids=LOOSE)
def test_any_other_json_is_left_to_the_exact_parser(info: str) -> None:
    assert cut_provenance([line("{}"), line(info)]) is None

    one = write_provenance(load_json(line(info))["commitInfo"])

    assert repr(values(one)) == repr(said(info))  # NaN is not equal to itself


@cases(
    "broken",
    {
        "a control character": line('{"operationMetrics":{"a":"\0"}}'),
        "no UTF-8, in what is skipped": b'{"commitInfo":{"x":"\xff"}}',
        "no UTF-8": b'{"commitInfo":{"operationMetrics":{"x":"\xff"}}}',
        "a comma too many": line('{"operationMetrics":{"a":1,}}'),
        "more after it": line("{} x"),
        "no object": line("5"),
        "too deep": line('{"x":' + "[" * 100_000 + "]" * 100_000 + "}"),
    },
)
def test_what_is_no_json_is_never_cut(broken: bytes) -> None:
    assert cut_provenance([line("{}"), broken]) is None


@cases(
    "text",
    {
        "strict JSON": b'{"n":"12","m":3,"x":1.5,"y":[null,true]}',
        "no number": b'{"n":NaN}',
        "half a character": b'{"n":"\\ud800"}',
    },
)
def test_many_objects_are_what_each_is(text: bytes) -> None:
    found = load_objects([b"{}", text])

    assert repr(found) == repr([{}, json.loads(text)])


def test_an_object_that_nests_too_deeply_says_nothing() -> None:
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000

    assert load_object(deep) == {}
    assert load_objects([deep]) == [{}]
