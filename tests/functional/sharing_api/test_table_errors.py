"""Tables that cannot be served, and what recipients are told of them."""

import shutil

import pytest

from tests.functional.sharing_api.calls import Caller, Lake, files, items, refused
from tests.support.logs.delta_logs import add, metadata
from tests.support.logs.local_logs import typed_schema
from tests.support.pages.factories import new_share, new_shared_table, new_table

GONE, UNSUPPORTED = "RESOURCE_DOES_NOT_EXIST", "UNSUPPORTED_OPERATION"


class TestStorage:
    def test_table_that_is_gone_is_the_providers_to_mend(self, acme, lake):
        shutil.rmtree(lake.root)

        for answer in (
            acme.get(f"{lake.path}/version"),
            acme.get(f"{lake.path}/metadata"),
            acme.query(lake.path),
        ):
            message = refused(answer, GONE)
            assert "missing" in message
            assert str(lake.root) not in message

    @pytest.mark.parametrize(
        ("version", "text"), [pytest.param(2, "{broken", id="torn"), (1, None)]
    )
    def test_broken_log_is_the_providers_to_mend(self, acme, lake, version, text):
        commit = lake.root / "_delta_log" / f"{version:020}.json"
        commit.write_text(text) if text else commit.unlink()

        assert str(lake.root) not in refused(acme.query(lake.path), GONE)

    def test_unknown_storage_is_not_ours_to_answer_with_a_fault(self, new_caller):
        table = new_table("web.clicks", location="s3://nowhere.invalid/clicks")
        shared = new_shared_table(new_share("Web"), "web.clicks", table=table)
        caller = new_caller("globex", shared.share)
        # No driver could be asked for a scheme that no driver has.
        type(table).objects.filter(id=table.id).update(location="gopher://x/y")

        refused(caller.get("/shares/web/schemas/web/tables/clicks/version"), GONE)


class TestMisreadTables:
    def widen(self, lake: Lake, **protocol: object) -> None:
        lake.commit(
            {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7} | protocol}
        )

    def refusal(self, caller: Caller, lake: Lake) -> str:
        assert caller.get(f"{lake.path}/version").status_code == 200
        assert len(items(caller.get("/shares/sales/all-tables"))) == 1
        return refused(caller.query(lake.path), UNSUPPORTED)

    def test_feature_that_is_only_supported_is_served(self, acme: Caller, lake: Lake):
        features = ["deletionVectors", "columnMapping", "timestampNtz", "typeWidening"]
        self.widen(lake, readerFeatures=features, writerFeatures=features)

        assert len(files(acme.query(lake.path))) == 3
        assert acme.get(f"{lake.path}/metadata").status_code == 200

    def test_deletion_vectors_are_refused_by_name(self, acme: Caller, lake: Lake):
        features = ["deletionVectors"]
        self.widen(lake, readerFeatures=features, writerFeatures=features)
        inline = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"
        vector = {"storageType": "i", "pathOrInlineDv": inline, "sizeInBytes": 40}
        marked = {"deletionVector": {**vector, "cardinality": 6}, "size": 535}
        lake.commit(add(lake.paths[0], partitionValues={"day": "2026-01-01"}, **marked))

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
        schema = typed_schema(id="long", day="date", new=type_name)
        lake.commit(metadata(schemaString=schema, partitionColumns=["day"]))

        assert type_name in self.refusal(acme, lake)

    def test_schema_that_cannot_be_told_is_refused_with_its_metadata(self, acme, lake):
        lake.commit(metadata(schemaString="{}", partitionColumns=[]))

        self.refusal(acme, lake)
        refused(acme.get(f"{lake.path}/metadata"), UNSUPPORTED)

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
        lake.commit(add(path, partitionValues={"day": "2026-01-09"}))

        message = self.refusal(acme, lake)

        assert path.rpartition("/")[2] in message
        assert "etc" not in message
        hints = {"predicateHints": ["day < '2026-01-09'"]}
        assert len(files(acme.query(lake.path, hints))) == 3
