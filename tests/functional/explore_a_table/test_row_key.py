"""The address of a row by its key, which stays when filters and rows change."""

from urllib.parse import urlsplit

import pytest
from django.test import Client

from tests.functional.explore_a_table.pages import TABLE, work
from tests.support.pages.answers import json_of, text_of
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.django_db

ORDERS = f"{TABLE}orders/data"


def read(client: Client, path: str) -> dict[str, object]:
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
    assert address.path == f"{ORDERS}/1"

    same = read(viewer, f"{ORDERS}/1.json?{address.query}")

    assert same["values"] == row["values"]
    assert same["row"] == 1
    assert "This row by its key" in text_of(viewer, f"{ORDERS}/7?f=country:eq:DE")


@pytest.mark.usefixtures("orders")
def test_at_an_older_version_it_keeps_the_version(viewer: Client):
    key = read(viewer, f"{ORDERS}/1.json?v=1")["key"]

    assert isinstance(key, dict)
    assert key["url"].endswith("&v=1")


def test_a_table_without_a_key_has_none(viewer: Client, tmp_path):
    TableBuilder(tmp_path).rows(word=["a", "a", None]).registered_as("words")

    assert read(viewer, f"{TABLE}words/data/1.json")["key"] is None
    assert "by its key" not in text_of(viewer, f"{TABLE}words/data/1")


def test_a_key_that_is_null_is_not_offered(viewer: Client, tmp_path):
    TableBuilder(tmp_path).rows(user_id=["x", None]).registered_as("users")

    offered = read(viewer, f"{TABLE}users/data/2.json")["key"]

    assert offered is None


def test_odd_characters_of_a_key_are_in_the_address(viewer: Client, tmp_path):
    TableBuilder(tmp_path).rows(user_id=["a&b=c #1"]).registered_as("users")
    row = read(viewer, f"{TABLE}users/data/1.json")
    key = row["key"]
    assert isinstance(key, dict)

    query = urlsplit(key["url"]).query

    assert read(viewer, f"{TABLE}users/data/1.json?{query}")["values"] == row["values"]
