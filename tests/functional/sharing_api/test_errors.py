import json
import shutil

import pytest
from django.test import Client
from pytest_django import Settings

from apps.sharing.models import SharedTable
from tests.factories import new_share, new_shared_table, new_table
from tests.functional.sharing_api.calls import (
    PREFIX,
    Answer,
    Caller,
    Lake,
    error,
    files,
)
from tests.functional.sharing_api.conftest import NewCaller

TABLE = "/shares/Sales/schemas/crm/tables/Orders"
ENDPOINTS = [
    pytest.param("GET", "/shares", id="list shares"),
    pytest.param("GET", "/shares/Sales", id="get share"),
    pytest.param("GET", "/shares/Sales/schemas", id="list schemas"),
    pytest.param("GET", "/shares/Sales/schemas/crm/tables", id="list tables"),
    pytest.param("GET", "/shares/Sales/all-tables", id="list all tables"),
    pytest.param("GET", "/shares/Sales/schemas/crm/tables/Orders", id="get table"),
    pytest.param(
        "GET", "/shares/Sales/schemas/crm/tables/Orders/version", id="version"
    ),
    pytest.param(
        "GET", "/shares/Sales/schemas/crm/tables/Orders/metadata", id="metadata"
    ),
    pytest.param("POST", "/shares/Sales/schemas/crm/tables/Orders/query", id="query"),
]
OF_A_SHARE = ENDPOINTS[1:]


class TestUnauthenticated:
    @pytest.mark.parametrize(("method", "path"), ENDPOINTS)
    @pytest.mark.parametrize(
        "header",
        [
            pytest.param({}, id="nothing"),
            pytest.param({"Authorization": ""}, id="an empty header"),
            pytest.param({"Authorization": "Bearer"}, id="no token"),
            pytest.param({"Authorization": "Bearer   "}, id="a blank token"),
            pytest.param({"Authorization": "Basic YTpi"}, id="another scheme"),
            pytest.param({"Authorization": "Bearer wrong"}, id="a made up token"),
            pytest.param({"Authorization": "Bearer \xff\x00"}, id="no text"),
        ],
    )
    def test_calls_are_answered_401(
        self,
        lake: Lake,
        stranger: Client,
        method: str,
        path: str,
        header: dict[str, str],
    ) -> None:
        del lake
        answer: Answer = stranger.generic(
            method, f"{PREFIX}{path}", b"{}", headers=header
        )

        assert answer.status_code == 401
        assert answer["WWW-Authenticate"] == "Bearer"
        assert error(answer)["errorCode"] == "UNAUTHENTICATED"

    def test_scheme_has_any_capitals(self, acme: Caller) -> None:
        answer = acme.get("/shares", Authorization=f"bEARER  {acme.secret} ")

        assert answer.status_code == 200

    def test_session_of_a_person_opens_nothing(
        self, lake: Lake, admin_client: Client
    ) -> None:
        del lake
        assert admin_client.get(f"{PREFIX}/shares").status_code == 401


class TestNotFound:
    @pytest.mark.parametrize(("method", "path"), OF_A_SHARE)
    def test_what_is_missing_reads_as_what_is_not_granted(
        self, lake: Lake, new_caller: NewCaller, method: str, path: str
    ) -> None:
        other = new_caller("globex", new_share("mine"))

        not_granted = other.ask(method, path, b"{}")
        SharedTable.objects.filter(id=lake.shared.id).delete()
        lake.shared.share.delete()
        missing = other.ask(method, path, b"{}")

        assert not_granted.status_code == missing.status_code == 404
        assert error(not_granted) == error(missing)
        assert error(missing)["errorCode"] == "RESOURCE_DOES_NOT_EXIST"

    @pytest.mark.parametrize(
        "path",
        [
            "/shares/nope",
            "/shares/Sales/schemas/nope/tables",
            "/shares/Sales/schemas/crm/tables/nope",
            "/shares/Sales/schemas/crm/tables/nope/version",
            "/shares/Sales/schemas/crm/tables/nope/metadata",
            "/shares/%00/schemas",
            "/shares/Sales/schemas/%00/tables",
            "/shares/Sales/schemas/crm/tables/a%00b/version",
            "/shares/%ff%fe",
            "/shares/%ED%A0%80",
            "/shares/" + "x" * 3000,
            "/shares/a%0Ab",
            "/shares/Sales/schemas/crm/tables/%2e%2e/version",
        ],
    )
    def test_names_of_nothing_are_404(self, acme: Caller, path: str) -> None:
        answer = acme.get(path)

        assert answer.status_code == 404
        assert error(answer)["errorCode"] == "RESOURCE_DOES_NOT_EXIST"

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "/",
            "/shares/",
            "/shares/Sales/",
            "/shares/Sales/schemas/",
            "/shares//schemas",
            "/shares/Sales/tables",
            "/shares/Sales/schemas/crm/tables/Orders/",
            "/shares/Sales/schemas/crm/tables/Orders/query/",
            "/shares/Sales/schemas/crm/tables/Orders/changes",
            "/shares/Sales/schemas/crm/tables/Orders/temporary-table-credentials",
            "/shares/Sales/schemas/crm/tables/Orders/queries/1",
            "/admin",
            "/%0A",
            "/shares%0A",
            "/%ff",
            "/files",
            "/files/a/b/c",
            "/files/Sales/" + "-" * 36 + "/x",
            "/files/Sales/00000000-0000-0000-0000-000000000000/",
        ],
    )
    @pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "BREW"])
    def test_paths_of_no_endpoint_are_404_in_json(
        self, acme: Caller, path: str, method: str
    ) -> None:
        answer = acme.ask(method, path, b"{}")

        if "/files/Sales/--" in path and method not in {"GET", "HEAD"}:
            assert answer.status_code == 405
            return
        assert answer.status_code == 404
        assert answer["Content-Type"] == "application/json; charset=utf-8"
        assert "Location" not in answer
        if method == "HEAD":
            assert answer.content == b""
        else:
            assert error(answer)["errorCode"] == "RESOURCE_DOES_NOT_EXIST"

    def test_need_no_token_for_that(self, stranger: Client) -> None:
        answer = stranger.get(f"{PREFIX}/nothing")

        assert answer.status_code == 404
        assert error(answer)["errorCode"] == "RESOURCE_DOES_NOT_EXIST"

    def test_head_has_no_body(self, acme: Caller) -> None:
        answer = acme.head("/shares/Sales/schemas/crm/tables/nope")

        assert answer.status_code == 404
        assert answer.content == b""
        assert "Delta-Table-Version" not in answer


class TestMethods:
    @pytest.mark.parametrize(("method", "path"), ENDPOINTS)
    @pytest.mark.parametrize(
        "other", ["POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]
    )
    def test_of_others_are_refused_in_json(
        self, acme: Caller, method: str, path: str, other: str
    ) -> None:
        if other == method:
            other = "LINK"

        answer = acme.ask(other, path, b"{}")

        assert answer.status_code == 405
        assert method in answer["Allow"]
        assert error(answer)["errorCode"] == "UNSUPPORTED_OPERATION"


class TestOtherLayers:
    def test_a_host_that_is_not_ours_is_refused_in_json(self, acme: Caller) -> None:
        answer = acme.get("/shares", Host="evil.example.com")

        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "MALFORMED_REQUEST"

    def test_plain_http_is_refused_without_a_redirect(
        self, acme: Caller, settings: Settings
    ) -> None:
        settings.SECURE_SSL_REDIRECT = True

        answer = acme.get("/shares")

        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "MALFORMED_REQUEST"

    def test_too_many_parameters_are_refused_in_json(self, acme: Caller) -> None:
        answer = acme.get("/shares?" + "&".join(f"a{n}=1" for n in range(1500)))

        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "MALFORMED_REQUEST"

    def test_every_answer_has_an_id_for_the_log(self, acme: Caller) -> None:
        assert acme.get("/nothing")["X-Request-Id"]
        assert acme.get("/shares")["X-Request-Id"]

    def test_pages_keep_their_own_errors(self, stranger: Client) -> None:
        assert (
            "text/html"
            in stranger.get("/delta-sharing-x", follow=True).headers["Content-Type"]
        )


class TestStorage:
    def test_table_that_is_gone_is_the_providers_to_mend(
        self, acme: Caller, lake: Lake
    ) -> None:
        shutil.rmtree(lake.root)

        for answer in (
            acme.get(f"{lake.path}/version"),
            acme.get(f"{lake.path}/metadata"),
            acme.query(lake.path),
        ):
            assert answer.status_code == 400
            assert error(answer)["errorCode"] == "RESOURCE_DOES_NOT_EXIST"
            assert "missing" in error(answer)["message"]
            assert str(lake.root) not in error(answer)["message"]

    def test_broken_log_is_the_providers_to_mend(
        self, acme: Caller, lake: Lake
    ) -> None:
        log = lake.root / "_delta_log"
        (log / f"{2:020}.json").write_text("{broken")

        answer = acme.query(lake.path)

        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "RESOURCE_DOES_NOT_EXIST"
        assert str(lake.root) not in error(answer)["message"]

    def test_gap_in_the_log_names_no_path(self, acme: Caller, lake: Lake) -> None:
        (lake.root / "_delta_log" / f"{1:020}.json").unlink()

        answer = acme.query(lake.path)

        assert answer.status_code == 400
        assert str(lake.root) not in error(answer)["message"]

    def test_unknown_storage_is_not_ours_to_answer_with_a_fault(
        self, new_caller: NewCaller
    ) -> None:
        table = new_table("web.clicks", location="s3://nowhere.invalid/clicks")
        shared = new_shared_table(new_share("Web"), "web.clicks", table=table)
        shared.table.refresh_from_db()
        caller = new_caller("globex", shared.share)
        # No driver could be asked for a scheme that no driver has.
        type(table).objects.filter(id=table.id).update(location="gopher://x/y")

        answer = caller.get("/shares/web/schemas/web/tables/clicks/version")

        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "RESOURCE_DOES_NOT_EXIST"


class TestMisreadTables:
    def widen(self, lake: Lake, **protocol: object) -> None:
        lake.commit(
            {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7} | protocol}
        )

    def refusal(self, caller: Caller, lake: Lake) -> str:
        answer = caller.query(lake.path)
        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "UNSUPPORTED_OPERATION"
        assert caller.get(f"{lake.path}/version").status_code == 200
        assert len(caller.get("/shares/sales/all-tables").json()["items"]) == 1
        return error(answer)["message"]

    def test_feature_that_is_only_supported_is_served(
        self, acme: Caller, lake: Lake
    ) -> None:
        features = ["deletionVectors", "columnMapping", "timestampNtz", "typeWidening"]
        self.widen(lake, readerFeatures=features, writerFeatures=features)

        assert len(files(acme.query(lake.path))) == 3
        assert acme.get(f"{lake.path}/metadata").status_code == 200

    def test_deletion_vectors_are_refused_by_name(
        self, acme: Caller, lake: Lake
    ) -> None:
        features = ["deletionVectors"]
        self.widen(lake, readerFeatures=features, writerFeatures=features)
        vector = {
            "storageType": "i",
            "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
            "sizeInBytes": 40,
            "cardinality": 6,
        }
        lake.commit(
            {
                "add": {
                    "path": lake.paths[0],
                    "partitionValues": {"day": "2026-01-01"},
                    "size": 535,
                    "modificationTime": 1,
                    "dataChange": True,
                    "deletionVector": vector,
                }
            }
        )

        assert "Deletion vectors" in self.refusal(acme, lake)
        assert acme.get(f"{lake.path}/metadata").status_code == 200
        assert acme.query(lake.path, {"version": 3}).status_code == 200

    def test_unknown_feature_is_refused_by_name(self, acme: Caller, lake: Lake) -> None:
        self.widen(lake, readerFeatures=["teleport"], writerFeatures=["teleport"])

        assert "teleport" in self.refusal(acme, lake)

    @pytest.mark.parametrize("type_name", ["timestamp_ntz", "variant"])
    def test_types_that_the_protocol_lacks_are_refused(
        self, acme: Caller, lake: Lake, type_name: str
    ) -> None:
        features = ["timestampNtz", "variantType"]
        self.widen(lake, readerFeatures=features, writerFeatures=features)
        columns = [("id", "long"), ("day", "date"), ("new", type_name)]
        schema = {
            "type": "struct",
            "fields": [
                {"name": name, "type": kind, "nullable": True, "metadata": {}}
                for name, kind in columns
            ],
        }
        lake.commit(
            {
                "metaData": {
                    "id": "t",
                    "format": {"provider": "parquet", "options": {}},
                    "schemaString": json.dumps(schema),
                    "partitionColumns": ["day"],
                    "configuration": {},
                }
            }
        )

        assert type_name in self.refusal(acme, lake)

    def test_schema_that_cannot_be_told_is_refused_with_its_metadata(
        self, acme: Caller, lake: Lake
    ) -> None:
        lake.commit(
            {
                "metaData": {
                    "id": "t",
                    "format": {"provider": "parquet", "options": {}},
                    "schemaString": "{}",
                    "partitionColumns": [],
                    "configuration": {},
                }
            }
        )

        self.refusal(acme, lake)
        answer = acme.get(f"{lake.path}/metadata")
        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "UNSUPPORTED_OPERATION"

    @pytest.mark.parametrize(
        "path",
        [
            "../orders2/secret.parquet",
            "/etc/passwd",
            "day=1/../../../secret.parquet",
            "%2e%2e/secret.parquet",
            "file:///etc/passwd",
            "s3://other/secret.parquet",
            "_delta_log/00000000000000000000.json",
        ],
    )
    def test_file_outside_of_the_table_is_offered_to_nobody(
        self, acme: Caller, lake: Lake, path: str
    ) -> None:
        lake.commit(
            {
                "add": {
                    "path": path,
                    "partitionValues": {"day": "2026-01-09"},
                    "size": 1,
                    "modificationTime": 1,
                    "dataChange": True,
                }
            }
        )

        message = self.refusal(acme, lake)

        assert path.rpartition("/")[2] in message
        assert "etc" not in message
        hints = {"predicateHints": ["day < '2026-01-09'"]}
        assert len(files(acme.query(lake.path, hints))) == 3
