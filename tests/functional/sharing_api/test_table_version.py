from urllib.parse import quote

import pytest

from deltaweb.delta.protocol.schema import format_schema
from deltaweb.web.sharing.models import SharedTable
from tests.functional.sharing_api.calls import SCHEMA, Caller, Lake, commit_time, error


def share_with(lake: Lake, **fields: object) -> None:
    SharedTable.objects.filter(id=lake.shared.id).update(**fields)


class TestTableVersion:
    def test_is_a_header_and_nothing_else(self, acme: Caller, lake: Lake) -> None:
        answer = acme.get(f"{lake.path}/version")

        assert answer.status_code == 200
        assert answer["Delta-Table-Version"] == "3"
        assert answer.content == b""
        assert answer["Cache-Control"] == "no-store"

    def test_answers_to_head_of_the_table(self, acme: Caller, lake: Lake) -> None:
        answer = acme.head(lake.path)

        assert answer.status_code == 200
        assert answer["Delta-Table-Version"] == "3"
        assert answer.content == b""

    def test_comes_with_get_of_the_table(self, acme: Caller, lake: Lake) -> None:
        answer = acme.get(lake.path)

        assert answer["Delta-Table-Version"] == "3"
        assert answer.json() == {
            "name": lake.shared.name,
            "schema": lake.shared.schema,
            "share": lake.shared.share.name,
            "shareId": str(lake.shared.share_id),
            "id": str(lake.shared.id),
            "format": "delta",
        }

    def test_follows_the_log(self, acme: Caller, lake: Lake) -> None:
        acme.get(f"{lake.path}/version")
        lake.append("2026-01-04")

        assert acme.get(f"{lake.path}/version")["Delta-Table-Version"] == "4"
        assert acme.query(lake.path)["Delta-Table-Version"] == "4"


class TestStartingTimestamp:
    def ask(self, caller: Caller, lake: Lake, time: str) -> tuple[int, str | None]:
        path = f"{lake.path}/version?startingTimestamp={quote(time)}"
        answer = caller.get(path)
        return answer.status_code, answer.headers.get("Delta-Table-Version")

    @pytest.mark.parametrize(
        ("time", "version"),
        [
            pytest.param("2026-02-01T00:00:00Z", "0", id="the time of version 0"),
            pytest.param("2026-02-01T02:00:00Z", "2", id="the time of a version"),
            pytest.param("2026-02-01T01:00:00.000001Z", "2", id="just after one"),
            pytest.param("2026-02-01T01:59:59.999999Z", "2", id="just before one"),
            pytest.param("2026-02-01T04:00:00+02:00", "2", id="another zone"),
            pytest.param("1970-01-01T00:00:00Z", "0", id="before all"),
            pytest.param("0001-01-01T00:00:00Z", "0", id="long before all"),
            pytest.param("2026-02-01T03:00:00Z", "3", id="the time of the newest"),
            pytest.param("2026-02-01 02:00:00.0", "2", id="as JDBC prints it"),
        ],
    )
    def test_means_the_earliest_version_at_or_after_it(self, acme, lake, time, version):
        assert self.ask(acme, lake, time) == (200, version)

    def test_may_have_a_plus_sign_that_was_not_quoted(self, acme: Caller, lake: Lake):
        path = f"{lake.path}/version?startingTimestamp=2026-02-01T04:00:00+02:00"

        assert acme.get(path)["Delta-Table-Version"] == "2"

    @pytest.mark.parametrize(
        "time",
        [
            pytest.param("2026-02-01T03:00:00.001Z", id="after the newest"),
            pytest.param("9999-12-31T23:59:59Z", id="long after the newest"),
            pytest.param("9999-12-31T23:59:59.999999Z", id="at the end of time"),
            pytest.param("2026-02-01T03:00:00", id="without a zone"),
            pytest.param("yesterday", id="words"),
            pytest.param("", id="nothing"),
            pytest.param("1769904000", id="seconds"),
            pytest.param("2026-02-30 00:00:00", id="no day of February"),
        ],
    )
    def test_is_refused(self, acme: Caller, lake: Lake, time: str) -> None:
        answer = acme.get(f"{lake.path}/version?startingTimestamp={quote(time)}")

        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "INVALID_PARAMETER_VALUE"

    def test_is_refused_without_history(self, acme: Caller, lake: Lake) -> None:
        share_with(lake, with_history=False)

        assert self.ask(acme, lake, "2026-02-01T00:00:00Z")[0] == 400
        assert acme.get(f"{lake.path}/version")["Delta-Table-Version"] == "3"

    def test_is_by_the_times_that_commits_carry(self, acme: Caller, lake: Lake) -> None:
        since = {
            "delta.inCommitTimestampEnablementVersion": "4",
            "delta.inCommitTimestampEnablementTimestamp": "2000000000000",
        }
        lake.commit(
            {
                "protocol": {
                    "minReaderVersion": 1,
                    "minWriterVersion": 7,
                    "writerFeatures": ["inCommitTimestamp"],
                }
            },
            {
                "metaData": {
                    "id": "t",
                    "format": {"provider": "parquet", "options": {}},
                    "schemaString": format_schema(SCHEMA),
                    "partitionColumns": ["day"],
                    "configuration": {
                        "delta.enableInCommitTimestamps": "true",
                        **since,
                    },
                }
            },
        )
        path = lake.root / "_delta_log" / f"{4:020d}.json"
        own = '{"commitInfo":{"inCommitTimestamp":2000000000000,'
        path.write_text(path.read_text().replace('{"commitInfo":{', own))
        at = "2033-05-18T03:33:20{}Z"  # 2,000,000,000 s

        assert self.ask(acme, lake, at.format("")) == (200, "4")
        assert self.ask(acme, lake, at.format(".001"))[0] == 400
        assert self.ask(acme, lake, "2033-05-18T03:33:19Z") == (200, "4")

    def test_never_means_a_version_that_is_not_shared(self, acme: Caller, lake: Lake):
        share_with(lake, start_version=2)

        assert self.ask(acme, lake, "2026-02-01T00:00:00Z") == (200, "2")
        assert self.ask(acme, lake, "2026-02-01T03:00:00Z") == (200, "3")

    def test_never_means_a_version_that_is_not_there(self, acme: Caller, lake: Lake):
        share_with(lake, start_version=9)

        assert self.ask(acme, lake, "2026-02-01T00:00:00Z") == (200, "3")


class TestTimeTravel:
    def test_by_version(self, acme: Caller, lake: Lake) -> None:
        query = acme.query(lake.path, {"version": 1})
        metadata = acme.get(f"{lake.path}/metadata?version=1")

        assert query["Delta-Table-Version"] == "1"
        assert metadata["Delta-Table-Version"] == "1"

    @pytest.mark.parametrize(
        ("time", "version"),
        [
            pytest.param(commit_time(1).isoformat(), "1", id="at a version"),
            pytest.param("2026-02-01T02:59:59Z", "2", id="between versions"),
            pytest.param("2036-02-01T02:59:59Z", "3", id="after the newest"),
        ],
    )
    def test_by_timestamp_is_the_newest_version_at_or_before(
        self, acme: Caller, lake: Lake, time: str, version: str
    ) -> None:
        query = acme.query(lake.path, {"timestamp": time})
        metadata = acme.get(f"{lake.path}/metadata?timestamp={quote(time)}")

        assert query["Delta-Table-Version"] == version
        assert metadata["Delta-Table-Version"] == version

    @pytest.mark.parametrize(
        "named",
        [
            pytest.param({"version": 4}, id="after the newest"),
            pytest.param({"version": 2**63 - 1}, id="the largest number"),
            pytest.param({"version": -1}, id="negative"),
            pytest.param({"version": 10**40}, id="larger than any"),
            pytest.param({"timestamp": "2026-01-01T00:00:00Z"}, id="before the first"),
            pytest.param({"timestamp": "today"}, id="words"),
            pytest.param(
                {"version": 1, "timestamp": "2026-02-01T02:00:00Z"}, id="two of them"
            ),
            pytest.param({"version": 1, "startingVersion": 1}, id="two with changes"),
        ],
    )
    def test_is_refused(self, acme: Caller, lake: Lake, named: dict[str, object]):
        query = acme.query(lake.path, named)
        text = "&".join(f"{key}={quote(str(value))}" for key, value in named.items())
        metadata = acme.get(f"{lake.path}/metadata?{text}")

        assert query.status_code == 400
        assert error(query)["errorCode"] == "INVALID_PARAMETER_VALUE"
        if "startingVersion" not in named:
            assert metadata.status_code == 400
            assert error(metadata)["errorCode"] == "INVALID_PARAMETER_VALUE"
        assert str(lake.root) not in query.content.decode()

    @pytest.mark.parametrize(
        "named", [{"version": 3}, {"timestamp": "2026-02-01T03:00:00Z"}]
    )
    def test_is_refused_without_history(self, acme, lake, named):
        share_with(lake, with_history=False)

        answer = acme.query(lake.path, named)

        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "INVALID_PARAMETER_VALUE"
        assert "history" in error(answer)["message"]
        assert acme.query(lake.path).status_code == 200

    @pytest.mark.parametrize(
        "named", [{"version": 1}, {"timestamp": "2026-02-01T01:00:00Z"}]
    )
    def test_is_refused_before_the_version_that_is_shared_first(
        self, acme: Caller, lake: Lake, named: dict[str, object]
    ) -> None:
        share_with(lake, start_version=2)

        answer = acme.query(lake.path, named)

        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "INVALID_PARAMETER_VALUE"
        assert "from version 2" in error(answer)["message"]
        assert acme.query(lake.path, {"version": 2}).status_code == 200

    def test_tells_no_time_of_a_version_that_is_not_shared(self, acme, lake):
        share_with(lake, start_version=2)

        answer = acme.query(lake.path, {"timestamp": "2020-01-01T00:00:00Z"})

        assert answer.status_code == 400
        assert "2026-02-01T00" not in error(answer)["message"]
        assert "from version 2" in error(answer)["message"]
