import json
from typing import Any

import pytest

from tests.functional.sharing_api.calls import Caller, Lake, body_of, refused

PARQUET = "responseformat=parquet"


class TestCapabilities:
    @pytest.mark.parametrize("header", ["responseformat=delta,parquet", ";=;"])
    def test_that_take_parquet_are_answered_in_it(self, acme, lake, header):
        named: dict[str, Any] = {"delta-sharing-capabilities": header}

        for answer in (
            acme.query(lake.path, **named),
            acme.get(f"{lake.path}/metadata", **named),
        ):
            assert answer.status_code == 200
            assert answer["delta-sharing-capabilities"] == PARQUET
            assert "endStreamAction" not in body_of(answer).decode()

    def test_that_take_delta_alone_are_answered_in_it(self, acme: Caller, lake: Lake):
        named: dict[str, Any] = {"delta-sharing-capabilities": "ResponseFormat=Delta"}

        answer = acme.query(lake.path, **named)
        metadata = acme.get(f"{lake.path}/metadata", **named)

        lines = [json.loads(line) for line in body_of(answer).splitlines()]
        assert [list(line) for line in lines] == [["protocol"], ["metaData"]] + [
            ["file"]
        ] * 3
        assert lines[0]["protocol"]["deltaProtocol"]["minReaderVersion"] == 1
        adds = [line["file"]["deltaSingleAction"]["add"] for line in lines[2:]]
        assert {add["path"].partition("?")[0].rpartition("/")[2] for add in adds} == {
            path.rpartition("/")[2] for path in lake.paths
        }
        for response in (answer, metadata):
            assert response["delta-sharing-capabilities"] == "responseformat=delta"
        assert body_of(metadata).splitlines() == body_of(answer).splitlines()[:2]

    def test_that_take_neither_are_refused(self, acme: Caller, lake: Lake) -> None:
        named: dict[str, Any] = {"delta-sharing-capabilities": "ResponseFormat=Avro"}

        for answer in (
            acme.query(lake.path, **named),
            acme.get(f"{lake.path}/metadata", **named),
        ):
            assert "parquet" in refused(answer, "UNSUPPORTED_OPERATION")
