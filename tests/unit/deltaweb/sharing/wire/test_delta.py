"""Lines that a Delta library reads as actions of a log."""

import hashlib
import json
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.log.file_actions import DELETION_VECTOR
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.sharing.wire.delta import file_lines, head_lines, served_protocol
from deltaweb.sharing.wire.lines import FileAnswer, TableFacts

MAPPED = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("columnMapping", "vacuumProtocolCheck"),
    writer_features=("columnMapping", "vacuumProtocolCheck", "appendOnly"),
)


def batch(**columns: Any) -> pa.RecordBatch:  # noqa: ANN401 (any cell)
    return pa.RecordBatch.from_pylist(
        [
            columns
            | {
                "path": "col-1=%25/a.parquet",
                "size": 573,
                "modification_time": 17,
                "partition_values": [("col-1", "%"), ("col-2", None)],
                "stats": '{"numRecords":1}',
            }
        ],
        pa.schema(
            {
                "path": pa.string(),
                "size": pa.int64(),
                "modification_time": pa.int64(),
                "partition_values": pa.map_(pa.string(), pa.string()),
                "stats": pa.string(),
                "deletion_vector": DELETION_VECTOR,
                "relative_vector_path": pa.string(),
            }
        ),
    )


def answer(**facts: Any) -> FileAnswer:  # noqa: ANN401 (numbers and texts)
    urls = pa.array(["https://h/x?sig=\u00e9"])
    defaults = {"expiration_ms": 5, "id_scheme": "delta"}
    return FileAnswer(urls=urls, **{**defaults, **facts})


class TestFileLines:
    def test_are_adds_whose_paths_are_urls(self) -> None:
        lines = file_lines(batch(), answer(version=3, timestamp_ms=9))

        assert lines.decode().count("\n") == 1
        assert json.loads(lines) == {
            "file": {
                "id": hashlib.sha256(b"col-1=%25/a.parquet").hexdigest(),
                "expirationTimestamp": 5,
                "version": 3,
                "timestamp": 9,
                "deltaSingleAction": {
                    "add": {
                        "path": "https://h/x?sig=\u00e9",
                        "partitionValues": {"col-1": "%", "col-2": None},
                        "size": 573,
                        "modificationTime": 17,
                        "dataChange": True,
                        "stats": '{"numRecords":1}',
                    }
                },
            }
        }

    def test_have_the_ids_of_the_other_format_where_that_is_asked_for(self) -> None:
        line = json.loads(file_lines(batch(), answer(id_scheme="parquet")))

        path = b"col-1=%25/a.parquet"
        assert line["file"]["id"] == hashlib.md5(path).hexdigest()  # noqa: S324 (an id)

    def test_name_the_url_of_a_deletion_vector(self) -> None:
        vector = {
            "storageType": "u",
            "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
            "offset": 4,
            "sizeInBytes": 40,
            "cardinality": 6,
        }
        files = batch(deletion_vector=vector, relative_vector_path="ab/dv.bin")

        line = json.loads(
            file_lines(files, answer(vector_urls=pa.array(["https://v"])))
        )

        assert line["file"]["deletionVectorFileId"] == (
            hashlib.sha256(b"ab/dv.bin").hexdigest()
        )
        assert line["file"]["deltaSingleAction"]["add"]["deletionVector"] == vector | {
            "storageType": "p",
            "pathOrInlineDv": "https://v",
        }

    def test_pass_on_a_deletion_vector_of_the_log(self) -> None:
        vector = {
            "storageType": "i",
            "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
            "sizeInBytes": 40,
            "cardinality": 6,
        }
        none = pa.nulls(1, pa.string())

        line = json.loads(
            file_lines(batch(deletion_vector=vector), answer(vector_urls=none))
        )

        assert "deletionVectorFileId" not in line["file"]
        assert line["file"]["deltaSingleAction"]["add"]["deletionVector"] == vector

    def test_of_no_files_are_none(self) -> None:
        empty = FileAnswer(
            urls=pa.array([], pa.string()), expiration_ms=1, id_scheme="delta"
        )

        assert file_lines(batch().slice(0, 0), empty) == b""


class TestHeadLines:
    def test_are_the_actions_of_the_log(self) -> None:
        metadata = Metadata(
            id="x",
            name="sales",
            schema_string='{"metadata":{"delta.columnMapping.id":1}}',
            partition_columns=["day"],
            configuration={"delta.columnMapping.mode": "name", "owner.note": "secret"},
            created_time=4,
        )

        lines = head_lines(metadata, MAPPED, TableFacts(version=2, num_files=1))

        protocol, table = map(json.loads, lines.splitlines())
        assert protocol == {
            "protocol": {
                "deltaProtocol": {
                    "minReaderVersion": 3,
                    "minWriterVersion": 7,
                    "readerFeatures": ["columnMapping", "vacuumProtocolCheck"],
                    "writerFeatures": [
                        "columnMapping",
                        "vacuumProtocolCheck",
                        "appendOnly",
                    ],
                }
            }
        }
        assert table["metaData"] == {
            "deltaMetadata": {
                "id": "x",
                "name": "sales",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": '{"metadata":{"delta.columnMapping.id":1}}',
                "partitionColumns": ["day"],
                "configuration": {"delta.columnMapping.mode": "name"},
                "createdTime": 4,
            },
            "accessModes": ["url"],
            "version": 2,
            "numFiles": 1,
        }


class TestServedProtocol:
    @pytest.mark.parametrize(
        ("read", "left"),
        [({"columnmapping", "vacuumprotocolcheck"}, 2), ({"columnmapping"}, 1)],
    )
    def test_leaves_out_what_is_unused_and_unknown_to_the_client(self, read, left):
        served = served_protocol(MAPPED, used={"columnMapping"}, read=read)

        assert served.reader_features == MAPPED.reader_features[:left]  # type: ignore[index]
        assert served.writer_features is not None
        assert "appendOnly" in served.writer_features
        assert ("vacuumProtocolCheck" in served.writer_features) is (left == 2)

    def test_keeps_what_is_used(self) -> None:
        served = served_protocol(
            MAPPED, used=set(MAPPED.reader_features or ()), read=()
        )

        assert served == MAPPED

    def test_keeps_what_may_change_how_files_are_read(self) -> None:
        features = ("typeWidening-preview", "variantShredding-preview", "later")
        protocol = Protocol(
            min_reader_version=3,
            min_writer_version=7,
            reader_features=features,
            writer_features=features,
        )

        assert served_protocol(protocol, used=(), read=()) == protocol

    def test_is_that_of_the_log_where_it_lists_no_features(self) -> None:
        older = Protocol(min_reader_version=2, min_writer_version=5)

        assert served_protocol(older, used=(), read=()) is older
