"""Objects are alike where no one could tell them apart."""

import json

import pytest

from deltaweb.index.alike import group_alike

DEEP = 3_000  # levels, more than can be written as a key


def test_objects_of_equal_json_are_one_kind() -> None:
    texts = ['{"a":1,"b":[2.5,null]}', '{"a":2}', '{"a":1,"b":[2.5,null]}', "{}"]

    alike = group_alike([json.loads(text) for text in texts])

    assert list(alike.kinds) == [0, 1, 0, 2]
    assert alike.distinct == [{"a": 1, "b": [2.5, None]}, {"a": 2}, {}]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param('{"a":1}', '{"a":1.0}', id="a fraction"),
        pytest.param('{"a":1}', '{"a":true}', id="a truth"),
        pytest.param('{"a":0.0}', '{"a":-0.0}', id="a sign"),
        pytest.param('{"a":"1"}', '{"a":1}', id="a text"),
        pytest.param('{"a":1,"b":2}', '{"b":2,"a":1}', id="an order"),
        pytest.param('{"a":NaN}', '{"a":Infinity}', id="no number"),
        pytest.param('{"a":"\\ud800"}', '{"a":"\\ud801"}', id="half a character"),
        pytest.param('{"a":{"b":[]}}', '{"a":{"b":{}}}', id="an empty list"),
    ],
)
def test_objects_that_differ_at_all_are_two_kinds(one: str, other: str) -> None:
    objects = [json.loads(one), json.loads(other), json.loads(one)]

    alike = group_alike(objects)

    assert list(alike.kinds) == [0, 1, 0]
    assert [*map(repr, alike.distinct)] == [*map(repr, objects[:2])]


def test_objects_too_deep_to_be_told_apart_are_each_their_own_kind() -> None:
    deep: dict[str, object] = {}
    for _ in range(DEEP):
        deep = {"a": deep}

    alike = group_alike([deep, deep, {}])

    assert list(alike.kinds) == [0, 1, 2]
    assert [*map(len, alike.distinct)] == [1, 1, 0]


def test_nothing_has_no_kinds() -> None:
    assert [*group_alike([]).distinct] == []
