"""The address of a row by its key, which stays when filters and rows change."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from tests.functional.explore_a_table.pages import TABLE, work
from tests.support.pages.answers import json_of, text_of
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.django_db

ORDERS = f"{TABLE}orders/data"
ROWS = f"{TABLE}orders/rows"


def read(client: Client, path: str) -> dict[str, Any]:
    client.get(path)
    work()
    return json_of(client, path)


@pytest.mark.usefixtures("orders")
def test_a_row_has_an_address_by_its_key(viewer: Client):
    row = read(viewer, f"{ORDERS}/7.json?f=country:eq:DE")
    key = row["key"]
    assert isinstance(key, dict)
    assert key["columns"] == ["order_id"]
    assert "its name says so" in key["reason"]
    address = urlsplit(key["url"])
    number = dict(row["values"])["order_id"]
    assert (address.path, address.query) == (f"{ROWS}/order_id/{number}", "")

    same = read(viewer, f"{address.path}.json")

    assert same["values"] == row["values"]
    assert same["row"] == 1
    assert same["key"] == key
    assert "This row by its key" in text_of(viewer, f"{ORDERS}/7?f=country:eq:DE")
    assert f"order_id = {number}" in text_of(viewer, address.path)


@pytest.mark.usefixtures("orders")
def test_the_filter_that_the_address_was_before_still_works(viewer: Client):
    row = read(viewer, f"{ORDERS}/1.json?f=order_id:eq:100097")

    assert row["values"]["order_id"] == "100097"


@pytest.mark.usefixtures("orders")
@pytest.mark.parametrize(
    ("key", "status"),
    [("order_id", 404), ("order_id/", 404), ("order_id/x", 400), ("nope/1", 400)],
)
def test_a_key_that_names_no_row_is_refused(viewer: Client, key: str, status: int):
    assert viewer.get(f"{ROWS}/{key}").status_code == status


@pytest.mark.usefixtures("orders")
def test_at_an_older_version_it_keeps_the_version(viewer: Client):
    key = read(viewer, f"{ORDERS}/1.json?v=1")["key"]

    assert isinstance(key, dict)
    assert key["url"].endswith("?v=1")


def test_a_table_without_a_key_has_none(viewer: Client, tmp_path):
    TableBuilder(tmp_path).rows(word=["a", "a", None]).registered_as("words")

    assert read(viewer, f"{TABLE}words/data/1.json")["key"] is None
    assert "by its key" not in text_of(viewer, f"{TABLE}words/data/1")


def test_a_key_that_is_null_is_not_offered(viewer: Client, tmp_path):
    TableBuilder(tmp_path).rows(user_id=["x", None]).registered_as("users")

    offered = read(viewer, f"{TABLE}users/data/2.json")["key"]

    assert offered is None


@pytest.mark.parametrize(
    "value", ["a&b=c #1", "a/b", "a.json", "..", "ü ?", "%2F", "a:eq:b"]
)
def test_odd_characters_of_a_key_are_in_the_address(
    viewer: Client, tmp_path: Path, value: str
):
    TableBuilder(tmp_path).rows(user_id=["first", value]).registered_as("users")
    row = read(viewer, f"{TABLE}users/data/2.json")
    key = row["key"]
    assert isinstance(key, dict)
    assert row["values"] == {"user_id": value}

    address = urlsplit(key["url"])

    same = read(viewer, f"{address.path}.json?{address.query}")
    assert same["values"] == row["values"]


def test_a_key_of_two_columns_names_both(viewer: Client, tmp_path: Path):
    table = TableBuilder(tmp_path).rows(order_id=[1, 1], line=[1, 2])
    table.registered_as("lines")

    row = read(viewer, f"{TABLE}lines/rows/order_id/1/line/2.json")

    assert row["values"] == {"order_id": "1", "line": "2"}
