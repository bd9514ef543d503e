"""The metadata of domains is said in words, and what says nothing is left out."""

import json

import pytest

from apps.explorer.history.parameters import Parameter
from apps.explorer.overview.view import shown_domains
from tests.support import cases


def texts(columns: tuple[str, ...] = (), **domains: object) -> dict[str, str]:
    """What is shown of domains without parts, by their last name."""
    told = {f"delta.{name}": json.dumps(value) for name, value in domains.items()}
    return {one.name: one.text for one in shown_domains(told, columns)}


@cases(
    "columns, shown",
    {
        "an ended clustering is left out": ([], {}),
        "by its names": ([["col-b"]], {"delta.clustering": "clustered by b"}),
    },
)
def test_clustering(columns: list[list[str]], shown: dict[str, str]) -> None:
    said = {"clusteringColumns": columns, "domainName": "delta.clustering"}

    assert texts(("b",), clustering=said) == shown


@pytest.mark.parametrize(
    ("highest", "words"),
    [(59_000, "row ids are assigned up to 59,000"), (-1, "no row has an id yet")],
)
def test_row_tracking(highest: int, words: str) -> None:
    assert texts(rowTracking={"rowIdHighWaterMark": highest}) == {
        "delta.rowTracking": words
    }


def test_another_domain_is_a_list_of_names_and_values() -> None:
    (shown,) = shown_domains({"app": '{"owner": "etl", "runs": 3}'}, ())

    assert shown == Parameter(
        name="app",
        label="",
        parts=(
            Parameter(name="owner", label="owner", text="etl"),
            Parameter(name="runs", label="runs", text="3"),
        ),
    )


def test_what_is_no_json_is_shown_as_it_is() -> None:
    (shown,) = shown_domains({"app": "{broken"}, ())

    assert shown.text == "{broken"
