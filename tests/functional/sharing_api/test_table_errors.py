"""Tables that cannot be served, and what recipients are told of them."""

import json
import shutil

import pytest

from tests.functional.sharing_api.calls import Caller, Lake, error, files
from tests.support.pages.factories import new_share, new_shared_table, new_table


class TestStorage:
    def test_table_that_is_gone_is_the_providers_to_mend(self, acme, lake):
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

    def test_broken_log_is_the_providers_to_mend(self, acme: Caller, lake: Lake):
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

    def test_unknown_storage_is_not_ours_to_answer_with_a_fault(self, new_caller):
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

    def test_feature_that_is_only_supported_is_served(self, acme: Caller, lake: Lake):
        features = ["deletionVectors", "columnMapping", "timestampNtz", "typeWidening"]
        self.widen(lake, readerFeatures=features, writerFeatures=features)

        assert len(files(acme.query(lake.path))) == 3
        assert acme.get(f"{lake.path}/metadata").status_code == 200

    def test_deletion_vectors_are_refused_by_name(self, acme: Caller, lake: Lake):
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
    def test_types_that_the_protocol_lacks_are_refused(self, acme, lake, type_name):
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

    def test_schema_that_cannot_be_told_is_refused_with_its_metadata(self, acme, lake):
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
    def test_file_outside_of_the_table_is_offered_to_nobody(self, acme, lake, path):
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
