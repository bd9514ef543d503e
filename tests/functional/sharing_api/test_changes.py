"""Changes of a shared table: its feed, and the files of a stream."""

from typing import Any

import pytest

from apps.audit.models import AuditEvent
from tests.functional.sharing_api.calls import (
    SCHEMA,
    Answer,
    Caller,
    Lake,
    body_of,
    commit_time,
    lines,
    local,
    refused,
)
from tests.functional.sharing_api.ends import IN_DELTA, share_with
from tests.support.logs.local_logs import typed_schema

FEED_ON = {"delta.enableChangeDataFeed": "true"}
UNSUPPORTED = "UNSUPPORTED_OPERATION"
GONE = "RESOURCE_DOES_NOT_EXIST"


@pytest.fixture
def fed(lake: Lake) -> Lake:
    """The table, whose version 4 begins to record changes; 5 to 7 make some."""
    turn(lake, FEED_ON)
    lake.append("2026-01-05")
    file = lake.paths[-1]
    day = {"day": "2026-01-05"}
    changes = lake.root / "_change_data" / "c.parquet"
    changes.parent.mkdir()
    changes.write_bytes((lake.root / file).read_bytes())
    cdc = {"path": "_change_data/c.parquet", "partitionValues": day, "size": 9}
    lake.commit({"cdc": {**cdc, "dataChange": False}}, remove(file, day))
    first = {"day": "2026-01-01"}
    lake.commit(remove(lake.paths[0], first))
    return lake


def turn(lake: Lake, configuration: dict[str, str], schema: str = "") -> None:
    made: dict[str, Any] = lake.writer.metadata(
        SCHEMA,
        created_at=commit_time(0),
        partition_columns=["day"],
        configuration=configuration,
    )
    if schema:
        made["metaData"]["schemaString"] = schema
    lake.commit(made)


def remove(path: str, values: dict[str, str], **more: object) -> dict[str, object]:
    fields = {"path": path, "deletionTimestamp": 7, "dataChange": True}
    return {"remove": {**fields, "partitionValues": values, "size": 5, **more}}


def asked(caller: Caller, lake: Lake, text: str, **headers: str) -> Answer:
    return caller.get(f"{lake.path}/changes?{text}", **headers)


def kinds(answer: Answer) -> list[tuple[str, int]]:
    """The kind and version of each line after the first two."""
    found = []
    for line in lines(answer)[2:]:
        (kind, fields), *_ = line.items()
        found.append((kind, fields["version"]))
    return found


class TestChanges:
    def test_are_files_with_their_versions_and_times(self, acme: Caller, fed: Lake):
        answer = asked(acme, fed, "startingVersion=4")

        assert answer.status_code == 200
        assert answer["Delta-Table-Version"] == "4"
        assert answer["delta-sharing-capabilities"] == "responseformat=parquet"
        assert kinds(answer) == [("add", 5), ("cdf", 6), ("remove", 7)]
        protocol, metadata, add, cdf, removed = lines(answer)
        assert protocol == {"protocol": {"minReaderVersion": 1}}
        assert metadata["metaData"]["configuration"] == {"enableChangeDataFeed": "true"}
        made_ms = int(commit_time(5).timestamp() * 1000)
        assert add["add"]["timestamp"] == made_ms
        assert add["add"]["stats"]
        assert cdf["cdf"]["partitionValues"] == {"day": "2026-01-05"}
        assert removed["remove"]["size"] == 5
        for line in (add["add"], cdf["cdf"], removed["remove"]):
            assert body_of(acme.get(local(line["url"])))[:4] == b"PAR1"

    def test_are_actions_of_a_log_in_the_delta_format(self, acme: Caller, fed: Lake):
        text = "startingVersion=4&endingVersion=7&includeHistoricalMetadata=true"
        answer = asked(acme, fed, text, **IN_DELTA)

        protocol, metadata, *rest = lines(answer)
        assert "version" not in protocol["protocol"]
        assert metadata["metaData"]["version"] == 4
        table = metadata["metaData"]["deltaMetadata"]
        assert table["configuration"] == FEED_ON
        actions = [line["file"]["deltaSingleAction"] for line in rest]
        assert [[*action] for action in actions] == [["add"], ["cdc"], ["remove"]]
        assert [line["file"]["version"] for line in rest] == [5, 6, 7]
        assert actions[0]["add"]["dataChange"] is True
        assert actions[1]["cdc"]["dataChange"] is False
        assert "modificationTime" not in actions[1]["cdc"]
        assert actions[2]["remove"]["deletionTimestamp"] == 7
        assert actions[2]["remove"]["extendedFileMetadata"] is True
        removed = acme.get(local(actions[2]["remove"]["path"]))
        assert body_of(removed)[:4] == b"PAR1"

    def test_tell_the_metadata_and_protocol_of_older_versions(self, acme, fed):
        turn(fed, {**FEED_ON, "delta.enableTypeWidening": "true"})
        fed.commit({"protocol": {"minReaderVersion": 1, "minWriterVersion": 4}})
        both = "includeHistoricalMetadata=true&includeHistoricalProtocol=true"

        answer = asked(acme, fed, f"startingVersion=7&{both}", **IN_DELTA)
        plain = asked(acme, fed, "startingVersion=7", **IN_DELTA)

        found = [
            (kind, fields["version"])
            for line in lines(answer)
            for kind, fields in line.items()
        ]
        assert sorted(found) == [
            *(("file", 7), ("metaData", 7), ("metaData", 8)),
            *(("protocol", 7), ("protocol", 9)),
        ]
        assert [[*line] for line in lines(plain)] == [
            ["protocol"],
            ["metaData"],
            ["file"],
        ]

    def test_of_times_are_those_of_the_versions_between(self, acme: Caller, fed: Lake):
        text = (
            "startingTimestamp=2026-02-01T05:30:00Z"
            "&endingTimestamp=2026-02-01T06:30:00Z"
        )

        answer = asked(acme, fed, text)

        assert answer["Delta-Table-Version"] == "6"
        assert kinds(answer) == [("cdf", 6)]

    def test_of_files_that_the_filter_hides_are_hidden(self, acme: Caller, fed: Lake):
        share_with(fed, condition="day = '2026-01-01'")

        answer = asked(acme, fed, "startingVersion=4")

        assert kinds(answer) == [("remove", 7)]

    def test_are_recorded_with_their_files(self, acme: Caller, fed: Lake) -> None:
        lines(asked(acme, fed, "startingVersion=4"))

        event = AuditEvent.objects.first()
        assert event is not None
        assert (event.action, event.status) == ("table.changes", 200)
        assert event.version == 4
        assert (event.num_files, event.total_files) == (3, 3)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "startingVersion"),
            ("startingVersion=8", "no version 8"),
            ("startingVersion=5&endingVersion=8", "no version 8"),
            ("startingVersion=6&endingVersion=5", "begins at version 6"),
            ("startingVersion=3", "no changes at version 3"),
            ("startingTimestamp=2027-01-01T00:00:00Z", "no version was made"),
        ],
    )
    def test_of_no_range_are_refused(self, acme, fed, text, told):
        message = refused(asked(acme, fed, text))

        assert told in message
        assert str(fed.root) not in message

    def test_are_refused_where_history_is_not_shared(self, acme: Caller, fed: Lake):
        share_with(fed, with_history=False)

        metadata = lines(acme.get(f"{fed.path}/metadata"))[1]["metaData"]

        assert "history" in refused(asked(acme, fed, "startingVersion=5"))
        assert "history" in refused(acme.query(fed.path, {"startingVersion": 5}))
        assert metadata["configuration"] == {}

    @pytest.mark.parametrize(
        "text", ["startingVersion=5", "startingTimestamp=2026-02-01T05:00:00Z"]
    )
    def test_are_refused_before_the_version_that_is_shared_first(self, acme, fed, text):
        share_with(fed, start_version=6)

        assert "from version 6" in refused(asked(acme, fed, text))
        assert asked(acme, fed, "startingVersion=6").status_code == 200

    def test_of_another_schema_are_refused_by_its_name(self, acme: Caller, fed: Lake):
        turn(fed, FEED_ON, typed_schema(id="string", day="date"))

        message = refused(asked(acme, fed, "startingVersion=5"), UNSUPPORTED)

        assert "the type of the column id" in message

    def test_of_files_with_deletion_vectors_need_the_delta_format(self, acme, fed):
        vector = {"storageType": "i", "pathOrInlineDv": "x", "sizeInBytes": 4}
        marked = {"deletionVector": {**vector, "cardinality": 1}}
        fed.commit(remove(fed.paths[1], {"day": "2026-01-02"}, **marked))

        message = refused(asked(acme, fed, "startingVersion=4"), UNSUPPORTED)

        assert "Deletion vectors" in message

    def test_whose_files_are_gone_are_refused(self, acme: Caller, fed: Lake) -> None:
        (fed.root / "_change_data" / "c.parquet").unlink()

        assert "Version 6" in refused(asked(acme, fed, "startingVersion=4"), GONE)
        assert asked(acme, fed, "startingVersion=7").status_code == 200

    def test_in_a_file_outside_of_the_table_are_refused(self, acme: Caller, fed: Lake):
        fed.commit(remove("../x.parquet", {"day": "2026-01-02"}))

        message = refused(asked(acme, fed, "startingVersion=4"), UNSUPPORTED)

        assert "lies outside" in message


class TestStream:
    def test_is_the_files_that_were_added_and_removed(self, acme: Caller, fed: Lake):
        answer = acme.query(fed.path, {"startingVersion": 3})

        assert answer.status_code == 200
        assert answer["Delta-Table-Version"] == "3"
        assert sorted(kinds(answer)) == [
            *(("add", 3), ("add", 5), ("metaData", 4)),
            *(("remove", 6), ("remove", 7)),
        ]
        assert lines(answer)[1]["metaData"]["version"] == 3

    def test_ends_at_the_newest_version_at_most(self, acme: Caller, fed: Lake) -> None:
        part = {"startingVersion": 6, "endingVersion": 6}

        assert kinds(acme.query(fed.path, part)) == [("remove", 6)]
        more = acme.query(fed.path, {**part, "endingVersion": 99})
        assert kinds(more) == [("remove", 6), ("remove", 7)]

    def test_comes_in_the_delta_format(self, acme: Caller, fed: Lake) -> None:
        answer = acme.query(fed.path, {"startingVersion": 7}, **IN_DELTA)

        (file,) = [line["file"] for line in lines(answer) if "file" in line]
        assert file["version"] == 7
        assert "remove" in file["deltaSingleAction"]

    def test_needs_no_removed_file(self, acme: Caller, fed: Lake) -> None:
        (fed.root / fed.paths[0]).unlink()

        assert kinds(acme.query(fed.path, {"startingVersion": 7})) == [("remove", 7)]
        assert asked(acme, fed, "startingVersion=7").status_code == 400

    @pytest.mark.parametrize("version", [8, -1])
    def test_of_no_version_is_refused(self, acme: Caller, fed: Lake, version: int):
        refused(acme.query(fed.path, {"startingVersion": version}))

    def test_of_an_end_alone_is_the_newest_version(self, acme: Caller, fed: Lake):
        answer = acme.query(fed.path, {"endingVersion": 5})

        assert answer["Delta-Table-Version"] == "7"
