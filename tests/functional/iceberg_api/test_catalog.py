"""The catalogue: shares and schemas are its namespaces."""

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.sharing.api.iceberg import kept
from apps.sharing.models import Recipient
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.environment.kept_values import KeptValues
from tests.functional.iceberg_api.clients import TABLE, body, catalog, loaded
from tests.functional.sharing_api.calls import SCHEMA, Caller, Lake, commit_time, files
from tests.support.index.indexed_tables import index_table

ORDERS = {"namespace": ["Sales", "crm"], "name": "Orders"}


def test_lists_what_is_shared(acme: Caller) -> None:
    listed = [
        ("/v1/namespaces", {"namespaces": [["Sales"]]}),
        ("/v1/namespaces?parent=sales", {"namespaces": [["Sales", "crm"]]}),
        ("/v1/namespaces?parent=sales%1Fcrm", {"namespaces": []}),
        ("/v1/namespaces/sales%1Fcrm/tables", {"identifiers": [ORDERS]}),
        ("/v1/namespaces/sales/tables", {"identifiers": []}),
        ("/v1/namespaces/sales", {"namespace": ["sales"], "properties": {}}),
        ("/v1/sales/namespaces", {"namespaces": [["crm"]]}),
        ("/v1/sales/namespaces/crm", {"namespace": ["crm"], "properties": {}}),
        (
            "/v1/sales/namespaces/crm/tables?pageToken=",
            {"identifiers": [{"namespace": ["crm"], "name": "Orders"}]},
        ),
    ]
    for path, found in listed:
        assert body(catalog(acme, path)) == found, path


def test_a_share_is_a_warehouse(acme: Caller) -> None:
    config = body(catalog(acme, "/v1/config?warehouse=SALES"))

    assert config["overrides"] == {"prefix": "Sales"}
    assert "GET /v1/{prefix}/namespaces" in config["endpoints"]
    assert not [one for one in config["endpoints"] if one[:4] in {"POST", "DELE"}]


@pytest.mark.parametrize("path", [TABLE, "/v1/sales/namespaces/crm/tables/orders"])
def test_a_table_comes_with_keys_of_this_server(acme: Caller, path: str) -> None:
    answer = catalog(acme, path)

    found = body(answer)
    (credentials,) = found["storage-credentials"]
    assert credentials["config"] == found["config"]
    assert found["metadata-location"].startswith(credentials["prefix"])
    assert found["config"]["s3.path-style-access"] == "true"
    assert set(found["config"]) >= {"s3.region", "client.region", "s3.session-token"}
    expires_ms = int(found["config"]["s3.session-token-expires-at-ms"])
    assert expires_ms > timezone.now().timestamp() * 1000
    assert found["metadata"]["snapshots"][-1]["summary"]["delta.version"] == "3"


def test_a_loaded_table_is_recorded(acme: Caller) -> None:
    loaded(acme)

    event = AuditEvent.objects.get(action="iceberg.table")
    assert (event.recipient, event.share, event.table) == ("acme", "Sales", "Orders")
    assert (event.version, event.num_files, event.status) == (3, 3, 200)


def test_what_is_not_there_is_said_in_the_form_of_the_catalogue(acme: Caller) -> None:
    for path, kind in (
        ("/v1/namespaces/other", "NoSuchNamespaceException"),
        ("/v1/namespaces/sales%1Fother/tables", "NoSuchNamespaceException"),
        ("/v1/namespaces/sales%1Fcrm%1Fx/tables", "NoSuchNamespaceException"),
        ("/v1/namespaces/sales%1Fcrm/tables/other", "NoSuchTableException"),
        ("/v1/namespaces/sales/tables/orders", "NoSuchTableException"),
        ("/v1/namespaces/sales%1Fcrm/tables/%00", "NoSuchTableException"),
        ("/v1/config?warehouse=other", "NoSuchNamespaceException"),
        ("/v1/other", "NoSuchEndpointException"),
        ("/", "NoSuchEndpointException"),
    ):
        answer = catalog(acme, path)

        error = body(answer)["error"]
        assert (answer.status_code, error["code"], error["type"]) == (404, 404, kind)


def test_nothing_is_written(acme: Caller) -> None:
    for method, path in (
        ("POST", "/v1/namespaces"),
        ("DELETE", "/v1/namespaces/sales%1Fcrm"),
        ("POST", "/v1/namespaces/sales%1Fcrm/tables"),
        ("POST", TABLE),
        ("DELETE", TABLE),
        ("POST", "/v1/transactions/commit"),
    ):
        answer = catalog(acme, path, method)

        assert answer.status_code == 405, path
        error = body(answer)["error"]
        assert error["type"] == "UnsupportedOperationException"
        assert "answers to ." not in error["message"]


def test_a_report_of_metrics_is_accepted_of_a_shared_table(acme: Caller) -> None:
    for path in (TABLE, "/v1/sales/namespaces/crm/tables/orders"):
        answer = catalog(acme, f"{path}/metrics", "POST")
        assert (answer.status_code, answer.content) == (204, b"")

    other = catalog(acme, "/v1/sales/namespaces/crm/tables/other/metrics", "POST")
    assert body(other)["error"]["type"] == "NoSuchTableException"
    assert catalog(acme, f"{TABLE}/metrics").status_code == 405


@pytest.mark.parametrize("token", ["null", "x", "%C3%A4"])
@pytest.mark.parametrize(
    "path", ["namespaces", "sales/namespaces", "sales/namespaces/crm/tables"]
)
def test_messages_use_the_terms_of_the_catalogue(acme, path: str, token: str) -> None:
    answer = catalog(acme, f"/v1/{path}?pageToken={token}&pageSize=10")

    message = body(answer)["error"]["message"]
    assert answer.status_code == 400
    assert "Send the next-page-token of the page before" in message
    assert "nextPageToken" not in message


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"{TABLE}/credentials", "The Iceberg catalog has no such endpoint."),
        ("/v1/namespaces/sales%1Fx", "The namespace 'sales.x' does not exist."),
        ("/v1/namespaces/x", "The namespace 'x' does not exist."),
        (f"{TABLE}x", "The table 'Sales.crm.ordersx' does not exist."),
    ],
)
def test_what_is_missing_is_named_as_clients_know_it(acme, path, message) -> None:
    found = body(catalog(acme, path))["error"]["message"].lower()

    assert found.startswith(message.lower())
    assert "sharing protocol" not in found


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("path", ["/v1/config", TABLE, "/v1/other"])
def test_nobody_comes_in_without_a_token(lake: Lake, method: str, path: str) -> None:
    assert lake.paths

    answer = Client().generic(method, f"/iceberg{path}")

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    if method != "HEAD":
        assert body(answer)["error"]["type"] == "NotAuthorizedException"


@pytest.mark.parametrize("path", ["/v1/namespaces/sales%1Fcrm", TABLE])
def test_what_is_there_is_shown_without_a_body(acme: Caller, path: str) -> None:
    answer = catalog(acme, path, "HEAD")

    assert (answer.status_code, answer.content) == (204, b"")
    assert catalog(acme, f"{path}x", "HEAD").status_code == 404


def test_versions_that_are_indexed_are_snapshots(acme: Caller, lake: Lake) -> None:
    index_table(lake.shared.table)

    metadata, _ = loaded(acme)

    versions = [one["summary"]["delta.version"] for one in metadata["snapshots"]]
    assert versions == ["0", "1", "2", "3"]
    assert len({one["snapshot-id"] for one in metadata["snapshots"]}) == 4


@pytest.mark.parametrize(
    ("shared_as", "versions"),
    [
        ({"start_version": 2}, ["2", "3"]),
        ({"with_history": False}, ["3"]),
        ({"start_version": 9}, ["3"]),
    ],
)
def test_versions_that_are_not_shared_are_no_snapshots(acme, lake, shared_as, versions):
    index_table(lake.shared.table)
    for name, value in shared_as.items():
        setattr(lake.shared, name, value)
    lake.shared.save()

    metadata, s3 = loaded(acme)

    assert [
        one["summary"]["delta.version"] for one in metadata["snapshots"]
    ] == versions
    for snapshot in metadata["snapshots"]:
        assert s3.ask(snapshot["manifest-list"]).status_code == 200


def test_a_client_goes_on_with_the_version_that_it_has_loaded(acme, lake):
    lake.shared.with_history = False
    lake.shared.save()
    metadata, s3 = loaded(acme)

    lake.append("2026-01-04")

    assert s3.ask(metadata["snapshots"][-1]["manifest-list"]).status_code == 200
    assert loaded(acme)[0]["snapshots"][-1]["summary"]["delta.version"] == "4"


@pytest.mark.parametrize("is_kept", [True, False])
def test_objects_are_the_same_when_they_are_made_again(acme, *, is_kept, monkeypatch):
    metadata, s3 = loaded(acme)
    location = metadata["snapshots"][-1]["manifest-list"]
    first = s3.ask(location).content
    if not is_kept:
        monkeypatch.setattr(kept, "_kept", KeptValues(1))

    assert s3.ask(location).content == first


def test_what_iceberg_has_no_word_for_is_refused_by_name(acme, lake):
    nothing = StructField("none", PrimitiveType("void"))
    schema = StructType((*SCHEMA.fields, nothing))
    lake.commit(
        lake.writer.metadata(
            schema, created_at=commit_time(0), partition_columns=["day"]
        )
    )

    answer = catalog(acme, TABLE)

    assert answer.status_code == 400
    message = body(answer)["error"]["message"]
    assert "crm.Orders cannot be read as Iceberg: column 'none' is of type" in message


def test_a_month_that_is_used_up_ends_the_door_too(acme: Caller, lake: Lake) -> None:
    first = catalog(acme, TABLE)
    assert first.status_code == 200
    event = AuditEvent.objects.get(action="iceberg.table")
    assert event.size_bytes == sum(file["size"] for file in lake_files(acme, lake))
    Recipient.objects.filter(id=acme.recipient.id).update(hard_limit_bytes=1)

    answer = catalog(acme, TABLE)

    assert answer.status_code == 403
    assert "Retry-After" not in answer
    assert body(answer)["error"]["type"] == "ForbiddenException"
    assert "used up" in body(answer)["error"]["message"]


def lake_files(acme: Caller, lake: Lake) -> list[dict[str, int]]:
    """The files that the sharing protocol lists of the same table."""
    return files(acme.query(lake.path, {}))
