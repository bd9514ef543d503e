"""What every endpoint does before and after its own part."""

import json
from pathlib import Path

import pytest
from django.test import Client

from apps.accounts.models import User
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.factories import new_api_key, new_user
from tests.support.pages.rest import refusal

pytestmark = pytest.mark.django_db
TABLES = "/api/v1/tables"
PROBLEM = {"error", "message", "hint", "request_id"}


@pytest.fixture
def vera() -> Client:
    return Client(headers=new_api_key(new_user("vera")))


@pytest.fixture
def eve() -> Client:
    return Client(headers=new_api_key(new_user("eve", role=User.Role.EDITOR)))


class TestACall:
    def test_without_a_key_is_refused_with_the_scheme_that_would_do(self):
        answer = Client().get(TABLES)

        assert answer.status_code == 401
        assert answer["WWW-Authenticate"].startswith("Bearer")
        assert answer.json().keys() == {*PROBLEM, "sign_in_url"}
        assert answer.json()["request_id"] == answer["X-Request-Id"]

    def test_with_an_unknown_key_is_refused(self):
        answer = Client(headers={"Authorization": "Bearer dwk_no"}).get(TABLES)

        assert answer.status_code == 401
        assert answer.json().keys() == PROBLEM

    def test_lists_the_tables_that_its_user_may_see(self, vera: Client, lake: Path):
        new_sample_table("sales.orders", lake / "orders")

        answer = vera.get(TABLES)

        assert answer.status_code == 200
        (table,) = answer.json()["tables"]
        assert (table["name"], answer.json()["next"]) == ("sales.orders", None)

    def test_names_the_parameter_that_is_meant(self, vera: Client):
        answer = vera.get(f"{TABLES}?name_space=sales")

        assert refusal(answer) == (400, "unknown-parameter")
        assert "'namespace'" in answer.json()["hint"]

    def test_reads_version_as_pages_do(self, vera: Client, lake: Path):
        new_sample_table("sales.orders", lake / "orders")

        answer = vera.get(f"{TABLES}/sales/orders?version=1")

        assert (answer.status_code, answer.json()["version"]) == (200, 1)

    def test_of_another_method_says_which_there_are(self, vera: Client):
        answer = vera.put(TABLES)

        assert refusal(answer) == (405, "method-not-allowed")
        assert "GET" in answer["Allow"]

    @pytest.mark.parametrize(
        "path", ["/api/", "/api/v1", "/api/v1/tables/a", "/api/v2/x"]
    )
    def test_of_no_endpoint_is_a_404_of_the_same_form(self, vera: Client, path: str):
        answer = vera.get(f"/api/{path}")

        assert (answer.status_code, answer.json().keys()) == (404, PROBLEM)


class TestASession:
    def test_may_read(self, viewer: Client):
        assert viewer.get(TABLES).status_code == 200

    def test_needs_its_token_to_write(self):
        browser = Client(enforce_csrf_checks=True)
        browser.force_login(new_user("eve", role=User.Role.EDITOR))

        answer = browser.post(TABLES, {}, content_type="application/json")

        assert refusal(answer) == (403, "csrf-failed")


def test_the_description_needs_no_key_and_has_every_endpoint(client: Client):
    answer = client.get("/api/openapi.json")

    told = json.loads(answer.content)
    assert told["openapi"].startswith("3.1")
    assert {TABLES, f"{TABLES}/{{namespace}}/{{name}}"} <= told["paths"].keys()
