"""The reference of the REST API, which a library draws under our policy."""

import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

pytestmark = pytest.mark.django_db


def test_strangers_read_the_reference_under_the_usual_policy(client: Client) -> None:
    answer = client.get("/api/reference/")
    shown = answer.content.decode()

    assert answer.status_code == 200
    assert 'data-openapi="/api/openapi.json"' in shown
    assert (
        answer["Content-Security-Policy"]
        == client.get("/help/")["Content-Security-Policy"]
    )
    assert "<script>" not in shown
    assert " style=" not in shown


def test_its_files_are_those_of_the_package(client: Client) -> None:
    shown = client.get("/api/reference/").content.decode()

    names = re.findall(r"/static/(swagger-ui/[\w-]+)[.\w]*?\.(js|css)", shown)

    assert {f"{name}.{kind}" for name, kind in names} == {
        "swagger-ui/swagger-ui-bundle.js",
        "swagger-ui/swagger-ui.css",
    }
    assert all(finders.find(f"{name}.{kind}") for name, kind in names)
