"""Numbers as texts: as protobuf writes them to JSON."""

import json

import pytest

from deltaweb.storage.received.numbers import stats_with_numbers, whole, with_numbers


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0, 0),
        ("0", 0),
        ("007", 7),
        (10.0, 10),
        (str(2**63 - 1), 2**63 - 1),
        (2**63, None),
        (str(2**63), None),
        ("9" * 5000, None),
        (-1, None),
        ("-1", None),
        ("1.5", None),
        (1.5, None),
        (float("nan"), None),
        (float("inf"), None),
        ("²", None),
        ("٣", None),
        (" 1", None),
        ("", None),
        (True, None),
        (None, None),
        ([1], None),
    ],
)
def test_which_values_are_whole_numbers(value: object, number: int | None) -> None:
    assert whole(value) == number


def test_texts_of_an_action_become_numbers() -> None:
    action = {"size": "5", "path": "7", "offset": None, "baseRowId": 3}

    found = with_numbers(action, ("size", "offset", "baseRowId", "other"))

    assert found == {"size": 5, "path": "7", "offset": None, "baseRowId": 3}


@pytest.mark.parametrize("size", ["", "x", "-1", "1.5", "9" * 30])
def test_a_text_that_is_no_number_is_refused(size: str) -> None:
    with pytest.raises(ValueError, match="size"):
        with_numbers({"size": size}, ("size",))


def test_the_row_count_of_statistics_is_a_number() -> None:
    stats = {"numRecords": "3", "minValues": {"a": '"numRecords":"4"', "b": 1.10}}

    found = json.loads(stats_with_numbers(json.dumps(stats)))

    assert found == {**stats, "numRecords": 3}


@pytest.mark.parametrize("stats", ["", "{", '{"numRecords":"03"}', '{"numRecords":3}'])
def test_other_statistics_stay(stats: str) -> None:
    assert stats_with_numbers(stats) == stats
