from urllib.parse import quote, urlencode

import pytest

from deltaweb.delta.protocol.schema import format_schema
from tests.functional.sharing_api.calls import (
    SCHEMA,
    Caller,
    Lake,
    commit_time,
    refused,
)
from tests.functional.sharing_api.ends import share_with
from tests.support import cases
from tests.support.logs.delta_logs import metadata, protocol


class TestTableVersion:
    def test_is_a_header_and_nothing_else(self, acme: Caller, lake: Lake) -> None:
        for answer in (acme.get(f"{lake.path}/version"), acme.head(lake.path)):
            assert answer.status_code == 200
            assert answer["Delta-Table-Version"] == "3"
            assert answer.content == b""
            assert answer["Cache-Control"] == "no-store"

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

    @cases(
        "time, version",
        {
            "the time of version 0": ("2026-02-01T00:00:00Z", "0"),
            "the time of a version": ("2026-02-01T02:00:00Z", "2"),
            "just after one": ("2026-02-01T01:00:00.000001Z", "2"),
            "just before one": ("2026-02-01T01:59:59.999999Z", "2"),
            "another zone": ("2026-02-01T04:00:00+02:00", "2"),
            "before all": ("1970-01-01T00:00:00Z", "0"),
            "long before all": ("0001-01-01T00:00:00Z", "0"),
            "the time of the newest": ("2026-02-01T03:00:00Z", "3"),
            "as JDBC prints it": ("2026-02-01 02:00:00.0", "2"),
        },
    )
    def test_means_the_earliest_version_at_or_after_it(self, acme, lake, time, version):
        assert self.ask(acme, lake, time) == (200, version)

    def test_may_have_a_plus_sign_that_was_not_quoted(self, acme: Caller, lake: Lake):
        path = f"{lake.path}/version?startingTimestamp=2026-02-01T04:00:00+02:00"

        assert acme.get(path)["Delta-Table-Version"] == "2"

    @cases(
        "time",
        {
            "after the newest": "2026-02-01T03:00:00.001Z",
            "at the end of time": "9999-12-31T23:59:59.999999Z",
            "words": "yesterday",
        },
    )
    def test_is_refused(self, acme: Caller, lake: Lake, time: str) -> None:
        refused(acme.get(f"{lake.path}/version?startingTimestamp={time}"))

    def test_is_refused_without_history(self, acme: Caller, lake: Lake) -> None:
        share_with(lake, with_history=False)

        assert self.ask(acme, lake, "2026-02-01T00:00:00Z")[0] == 400
        assert acme.get(f"{lake.path}/version")["Delta-Table-Version"] == "3"

    def test_is_by_the_times_that_commits_carry(self, acme: Caller, lake: Lake) -> None:
        configuration = {
            "delta.enableInCommitTimestamps": "true",
            "delta.inCommitTimestampEnablementVersion": "4",
            "delta.inCommitTimestampEnablementTimestamp": "2000000000000",
        }
        fields = {"schemaString": format_schema(SCHEMA), "partitionColumns": ["day"]}
        lake.commit(
            protocol(1, 7, writerFeatures=["inCommitTimestamp"]),
            metadata(**fields, configuration=configuration),
        )
        path = lake.root / "_delta_log" / f"{4:020d}.json"
        own = '{"commitInfo":{"inCommitTimestamp":2000000000000,'
        path.write_text(path.read_text().replace('{"commitInfo":{', own))
        at = "2033-05-18T03:33:20{}Z"  # 2,000,000,000 s

        assert self.ask(acme, lake, at.format("")) == (200, "4")
        assert self.ask(acme, lake, at.format(".001"))[0] == 400
        assert self.ask(acme, lake, "2033-05-18T03:33:19Z") == (200, "4")

    @pytest.mark.parametrize(("start", "version"), [(2, "2"), (9, "3")])
    def test_never_means_a_version_that_is_not_shared(self, acme, lake, start, version):
        share_with(lake, start_version=start)

        assert self.ask(acme, lake, "2026-02-01T00:00:00Z") == (200, version)
        assert self.ask(acme, lake, "2026-02-01T03:00:00Z") == (200, "3")


class TestTimeTravel:
    @cases(
        "named, version",
        {
            "by its number": ({"version": 1}, "1"),
            "its time": ({"timestamp": commit_time(1).isoformat()}, "1"),
            "between two": ({"timestamp": "2026-02-01T02:59:59Z"}, "2"),
            "after all": ({"timestamp": "2036-02-01T02:59:59Z"}, "3"),
        },
    )
    def test_is_to_the_newest_version_at_or_before(self, acme, lake, named, version):
        for answer in (
            acme.query(lake.path, named),
            acme.get(f"{lake.path}/metadata?{urlencode(named)}"),
        ):
            assert answer["Delta-Table-Version"] == version

    @cases(
        "named",
        {
            "after the newest": {"version": 4},
            "the largest number": {"version": 2**63 - 1},
            "larger than any": {"version": 10**40},
            "before the first": {"timestamp": "2026-01-01T00:00:00Z"},
            "words": {"timestamp": "today"},
            "two of them": {"version": 1, "timestamp": "2026-02-01T02:00:00Z"},
        },
    )
    def test_is_refused(self, acme: Caller, lake: Lake, named: dict[str, object]):
        for answer in (
            acme.query(lake.path, named),
            acme.get(f"{lake.path}/metadata?{urlencode(named)}"),
        ):
            assert str(lake.root) not in refused(answer)

    @pytest.mark.parametrize(
        "named", [{"version": 3}, {"timestamp": "2026-02-01T03:00:00Z"}]
    )
    def test_is_refused_without_history(self, acme, lake, named):
        share_with(lake, with_history=False)

        assert "history" in refused(acme.query(lake.path, named))
        assert acme.query(lake.path).status_code == 200

    @pytest.mark.parametrize(
        "named", [{"version": 1}, {"timestamp": "2026-02-01T01:00:00Z"}]
    )
    def test_is_refused_before_the_version_that_is_shared_first(
        self, acme, lake, named
    ):
        share_with(lake, start_version=2)

        assert "from version 2" in refused(acme.query(lake.path, named))
        assert acme.query(lake.path, {"version": 2}).status_code == 200

    def test_tells_no_time_of_a_version_that_is_not_shared(self, acme, lake):
        share_with(lake, start_version=2)

        message = refused(acme.query(lake.path, {"timestamp": "2020-01-01T00:00:00Z"}))

        assert "2026-02-01T00" not in message
        assert "from version 2" in message
