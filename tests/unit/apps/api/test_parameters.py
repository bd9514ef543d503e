"""Descriptions of query parameters: each has one, and each is of a parameter."""

from collections.abc import Iterator

import pytest

from apps.api.parameters import DESCRIPTIONS, OF_ENDPOINT, description_of
from apps.api.urls import described


def _parameters() -> Iterator[tuple[str, str, str]]:
    for path, calls in described()["paths"].items():
        for call in calls.values():
            for one in call.get("parameters", ()):
                if one["in"] == "query":
                    yield path, one["name"], one.get("description", "")


def test_each_parameter_is_described_in_a_sentence() -> None:
    found = [*_parameters()]

    assert found
    assert [one for one in found if not one[2].endswith(".")] == []


def test_each_description_is_of_a_parameter() -> None:
    found = {(path.rpartition("/")[2], name) for path, name, _ in _parameters()}

    assert {*DESCRIPTIONS} - {name for _, name in found} == set()
    assert {*OF_ENDPOINT} - found == set()


@pytest.mark.parametrize(
    ("name", "path", "text"),
    [
        ("status", "/api/v1/activity", "Outcome: ok or failed."),
        ("status", "/api/v1/tables", "State of the table."),
        ("kind", "/api/v1/activity", "Type of event."),
        ("from", "/api/v1/activity", "Start time or date."),
    ],
)
def test_a_parameter_is_described_for_its_endpoint(name, path, text):
    assert description_of(name, path) == text
