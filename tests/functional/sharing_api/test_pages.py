"""An answer in pages, URLs that are made anew, and what an answer says at its end."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from deltaweb.web.audit.models import AuditEvent
from deltaweb.web.sharing.models import Grant, SharedTable
from tests.functional.sharing_api.calls import (
    DAYS,
    SCHEMA,
    Answer,
    Caller,
    Lake,
    body_of,
    commit_time,
    error,
    files,
    lines,
)

END: dict[str, Any] = {"delta-sharing-capabilities": "includeEndStreamAction=true"}
IN_DELTA: dict[str, Any] = {
    "delta-sharing-capabilities": "responseformat=delta;readerfeatures=deletionvectors"
}


def later(monkeypatch: pytest.MonkeyPatch, span: timedelta) -> None:
    """Let requests come after a while."""
    now = timezone.now() + span
    monkeypatch.setattr("deltaweb.web.sharing.api.base.timezone.now", lambda: now)


def end_of(answer: Answer) -> dict[str, Any]:
    """What the last line says."""
    assert answer.status_code == 200, answer.content
    *rest, last = lines(answer)
    assert not any("endStreamAction" in line for line in rest)
    assert list(last) == ["endStreamAction"]
    said: dict[str, Any] = last["endStreamAction"]
    return said


def ids_of(answer: Answer) -> list[str]:
    """The ids of the files of an answer."""
    return [file["id"] for file in files(answer)]


def head_of(answer: Answer) -> list[bytes]:
    return body_of(answer).splitlines()[:2]


def read_pages(caller: Caller, lake: Lake, body: dict[str, Any], **headers: str):
    """Ask for page after page."""
    answers, token = [], None
    while token is not None or not answers:
        asked = body if token is None else {**body, "pageToken": token}
        answers.append(caller.query(lake.path, asked, **headers))
        token = end_of(answers[-1]).get("nextPageToken")
    return answers


class TestPages:
    @pytest.mark.parametrize("headers", [{}, IN_DELTA])
    @pytest.mark.parametrize("max_files", [1, 2, 3, 9])
    @pytest.mark.parametrize("version", [{}, {"version": 2}])
    def test_are_together_the_one_answer(
        self, acme, lake, max_files, version, headers
    ) -> None:
        whole = acme.query(lake.path, version, **headers)

        pages = read_pages(acme, lake, {**version, "maxFiles": max_files}, **headers)

        assert [file_id for page in pages for file_id in ids_of(page)] == ids_of(whole)
        assert {tuple(head_of(page)) for page in pages} == {tuple(head_of(whole))}
        assert {page["Delta-Table-Version"] for page in pages} == {
            whole["Delta-Table-Version"]
        }
        assert all(len(ids_of(page)) <= max_files for page in pages)

    def test_stay_at_their_version_when_files_come(self, acme: Caller, lake: Lake):
        first = acme.query(lake.path, {"maxFiles": 2})
        lake.append("2026-01-09")
        token = end_of(first)["nextPageToken"]

        second = acme.query(lake.path, {"maxFiles": 2, "pageToken": token})

        assert head_of(second) == head_of(first)
        assert second["Delta-Table-Version"] == "3"
        assert len({*ids_of(first), *ids_of(second)}) == len(DAYS)
        assert "nextPageToken" not in end_of(second)
        assert len(ids_of(acme.query(lake.path))) == len(DAYS) + 1

    def test_may_be_of_any_length_from_one_to_the_next(self, acme: Caller, lake: Lake):
        first = acme.query(lake.path, {"maxFiles": 1})
        token = end_of(first)["nextPageToken"]

        rest = acme.query(lake.path, {"pageToken": token})

        assert len(ids_of(rest)) == len(DAYS) - 1

    def test_say_when_their_urls_end(self, acme: Caller, lake: Lake) -> None:
        page = acme.query(lake.path, {"maxFiles": 2})

        told = {line["file"]["expirationTimestamp"] for line in lines(page)[2:-1]}
        assert {end_of(page)["minUrlExpirationTimestamp"]} == told

    def test_hold_to_hints(self, acme: Caller, lake: Lake) -> None:
        hints = {"predicateHints": ["day >= '2026-01-02'"]}
        whole = acme.query(lake.path, hints)

        pages = read_pages(acme, lake, {**hints, "maxFiles": 1})

        assert [file_id for page in pages for file_id in ids_of(page)] == ids_of(whole)

    def test_hold_to_a_limit(self, acme: Caller, lake: Lake) -> None:
        pages = read_pages(acme, lake, {"limitHint": 15, "maxFiles": 1})

        assert [len(ids_of(page)) for page in pages] == [1, 1]

    def test_hold_to_the_filter_of_the_share(self, acme: Caller, lake: Lake) -> None:
        share_with(lake, partition_filter="day >= '2026-01-02'")
        whole = acme.query(lake.path)

        pages = read_pages(acme, lake, {"maxFiles": 1})

        assert [file_id for page in pages for file_id in ids_of(page)] == ids_of(whole)
        assert len(pages) == 2

    def test_are_recorded_with_their_own_files(self, acme: Caller, lake: Lake) -> None:
        lines(acme.query(lake.path, {"maxFiles": 2}))

        event = AuditEvent.objects.first()
        assert event is not None
        assert (event.num_files, event.total_files) == (2, 3)

    @pytest.mark.parametrize("count", [0, -1])
    def test_of_no_file_are_refused(self, acme: Caller, lake: Lake, count: int) -> None:
        answer = acme.query(lake.path, {"maxFiles": count})

        assert error(answer)["errorCode"] == "INVALID_PARAMETER_VALUE"

    @pytest.mark.parametrize(
        "body",
        [
            {"maxFiles": "10"},
            {"maxFiles": 1.5},
            {"maxFiles": True},
            {"pageToken": 7},
            {"refreshToken": ["x"]},
        ],
    )
    def test_of_another_type_are_refused(self, acme, lake, body) -> None:
        answer = acme.query(lake.path, body)

        assert error(answer)["errorCode"] == "MALFORMED_REQUEST"


def share_with(lake: Lake, **fields: object) -> None:
    SharedTable.objects.filter(id=lake.shared.id).update(**fields)


def refused(answer: Answer) -> str:
    """The message of a request that is refused."""
    assert answer.status_code == 400
    assert error(answer)["errorCode"] == "INVALID_PARAMETER_VALUE"
    return error(answer)["message"]


class TestPageToken:
    @pytest.fixture
    def token(self, acme: Caller, lake: Lake) -> str:
        found: str = end_of(acme.query(lake.path, {"maxFiles": 1}))["nextPageToken"]
        return found

    @pytest.mark.parametrize(
        "body",
        [
            pytest.param({"predicateHints": ["id = 1"]}, id="hints"),
            pytest.param({"jsonPredicateHints": "{}"}, id="hints in JSON"),
            pytest.param({"limitHint": 5}, id="a limit"),
            pytest.param({"version": 3}, id="a version"),
            pytest.param({"startingVersion": 1}, id="changes"),
        ],
    )
    def test_of_another_query_is_refused(self, acme, lake, token, body) -> None:
        answer = acme.query(lake.path, {**body, "pageToken": token})

        assert "Send the nextPageToken of the page before" in refused(answer)

    def test_of_another_format_is_refused(self, acme, lake, token) -> None:
        answer = acme.query(lake.path, {"pageToken": token}, **IN_DELTA)

        assert "none that this query has given" in refused(answer)

    def test_of_another_recipient_is_refused(self, lake, token, new_caller) -> None:
        globex = new_caller("globex", lake.shared.share)

        assert "pageToken" in refused(globex.query(lake.path, {"pageToken": token}))

    def test_is_good_with_another_token_of_the_recipient(self, acme, lake, token):
        asked = {"pageToken": token, "includeRefreshToken": False, "maxFiles": 7}

        assert len(ids_of(acme.query(lake.path, asked))) == 2

    @pytest.mark.parametrize("text", ["x", "é", "A" * 9000, "\x00", "AAAA", "%%"])
    def test_that_is_made_up_is_refused(self, acme, lake, text: str) -> None:
        assert "pageToken" in refused(acme.query(lake.path, {"pageToken": text}))

    def test_that_was_altered_is_refused(self, acme, lake, token: str) -> None:
        altered = token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")

        assert "pageToken" in refused(acme.query(lake.path, {"pageToken": altered}))

    def test_ends_after_an_hour(self, acme, lake, token, monkeypatch) -> None:
        later(monkeypatch, timedelta(minutes=61))

        message = refused(acme.query(lake.path, {"pageToken": token}))

        assert "its time is over" in message
        assert "Send the query again from its beginning" in message

    @pytest.mark.parametrize(
        "terms",
        [
            {"partition_filter": "day >= '2026-01-01'"},
            {"with_history": False},
            {"start_version": 3},
        ],
    )
    def test_is_refused_when_the_terms_have_changed(self, acme, lake, token, terms):
        share_with(lake, **terms)

        assert "pageToken" in refused(acme.query(lake.path, {"pageToken": token}))

    def test_is_refused_when_the_grant_has_ended(self, acme, lake, token) -> None:
        Grant.objects.all().delete()

        answer = acme.query(lake.path, {"pageToken": token})

        assert answer.status_code == 404
        assert error(answer)["errorCode"] == "RESOURCE_DOES_NOT_EXIST"

    def test_is_refused_when_the_table_is_another_one(self, acme, lake, token) -> None:
        log = lake.root / "_delta_log" / "00000000000000000000.json"
        actions = [json.loads(line) for line in log.read_text().splitlines()]
        for action in actions:
            if "metaData" in action:
                action["metaData"]["id"] = "another"
        log.write_text("".join(json.dumps(action) + "\n" for action in actions))
        newest = lake.root / "_delta_log" / "00000000000000000003.json"
        newest.write_bytes(newest.read_bytes() + b"\n")

        message = refused(acme.query(lake.path, {"pageToken": token}))

        assert "another one now" in message


class TestRefresh:
    def test_gives_the_very_files_fresh_urls_after_newer_commits(
        self, acme: Caller, lake: Lake, settings: Settings
    ) -> None:
        settings.FILE_URL_LIFETIME_S = 600
        first = acme.query(lake.path, {"includeRefreshToken": True})
        told = end_of(first)
        lake.append("2026-01-09")
        share_with(lake, comment="new")
        settings.FILE_URL_LIFETIME_S = 900

        again = acme.query(
            lake.path,
            {"includeRefreshToken": True, "refreshToken": told["refreshToken"]},
        )

        assert ids_of(again) == ids_of(first)
        assert again["Delta-Table-Version"] == "3"
        fresh = end_of(again)
        assert (
            fresh["minUrlExpirationTimestamp"] - told["minUrlExpirationTimestamp"]
            >= 300_000
        )
        assert fresh["refreshToken"]

    def test_is_for_clients_that_leave_hints_out_then(self, acme, lake) -> None:
        hints = {"predicateHints": ["day = '2026-01-02'"], "includeRefreshToken": True}
        told = end_of(acme.query(lake.path, hints))

        again = acme.query(lake.path, {"refreshToken": told["refreshToken"]})

        assert len(ids_of(again)) == 3
        assert "refreshToken" not in end_of(again)

    def test_needs_no_history(self, acme: Caller, lake: Lake) -> None:
        share_with(lake, with_history=False)
        told = end_of(acme.query(lake.path, {"includeRefreshToken": True}))
        lake.append("2026-01-09")

        again = acme.query(lake.path, {"refreshToken": told["refreshToken"]})

        assert len(ids_of(again)) == 3

    def test_comes_in_pages_too(self, acme: Caller, lake: Lake) -> None:
        told = end_of(acme.query(lake.path, {"includeRefreshToken": True}))
        lake.append("2026-01-09")
        asked = {"refreshToken": told["refreshToken"], "maxFiles": 2}

        first = acme.query(lake.path, asked)
        token = end_of(first)["nextPageToken"]
        second = acme.query(lake.path, {"maxFiles": 2, "pageToken": token})

        assert len({*ids_of(first), *ids_of(second)}) == 3

    @pytest.mark.parametrize(
        "body", [{"version": 1}, {"timestamp": "2026-02-01T02:30:00Z"}]
    )
    def test_of_a_named_version_needs_no_token(self, acme, lake, body) -> None:
        told = end_of(acme.query(lake.path, {**body, "includeRefreshToken": True}))

        assert set(told) == {"minUrlExpirationTimestamp"}

    def test_ends(self, acme, lake, monkeypatch) -> None:
        told = end_of(acme.query(lake.path, {"includeRefreshToken": True}))
        later(monkeypatch, timedelta(hours=3))

        answer = acme.query(lake.path, {"refreshToken": told["refreshToken"]})

        assert "refreshToken is of no use any more" in refused(answer)

    def test_is_not_a_page_token(self, acme: Caller, lake: Lake) -> None:
        told = end_of(
            acme.query(lake.path, {"includeRefreshToken": True, "maxFiles": 1})
        )

        for body in (
            {"pageToken": told["refreshToken"]},
            {"refreshToken": told["nextPageToken"]},
            {"refreshToken": told["refreshToken"], "version": 1},
        ):
            assert refused(acme.query(lake.path, body))

    def test_of_another_recipient_is_refused(self, acme, lake, new_caller) -> None:
        told = end_of(acme.query(lake.path, {"includeRefreshToken": True}))
        globex = new_caller("globex", lake.shared.share)

        answer = globex.query(lake.path, {"refreshToken": told["refreshToken"]})

        assert "refreshToken" in refused(answer)


class TestEnd:
    @pytest.mark.parametrize("headers", [{}, IN_DELTA])
    def test_is_told_where_it_is_asked_for_alone(self, acme, lake, headers) -> None:
        answer = acme.query(lake.path, **headers)

        assert "endStreamAction" not in body_of(answer).decode()
        assert "includeendstreamaction" not in answer["delta-sharing-capabilities"]

    def test_is_promised_and_told(self, acme: Caller, lake: Lake) -> None:
        answer = acme.query(lake.path, **END)

        promise = "responseformat=parquet;includeendstreamaction=true"
        assert answer["delta-sharing-capabilities"] == promise
        assert set(end_of(answer)) == {"minUrlExpirationTimestamp"}

    def test_of_no_files_says_nothing(self, acme: Caller, lake: Lake) -> None:
        assert end_of(acme.query(lake.path, {"version": 0}, **END)) == {}

    def test_is_none_of_metadata(self, acme: Caller, lake: Lake) -> None:
        answer = acme.get(f"{lake.path}/metadata", **END)

        assert len(lines(answer)) == 2
        assert "includeendstreamaction" not in answer["delta-sharing-capabilities"]


class TestPagesOfChanges:
    @pytest.fixture
    def grown(self, lake: Lake) -> Lake:
        """The table, of whose later versions each changes several files."""
        for path, day in zip(lake.paths, DAYS, strict=True):
            fields = {"path": path, "partitionValues": {"day": day}}
            gone = {"remove": {**fields, "dataChange": True, "deletionTimestamp": 7}}
            size = (lake.root / path).stat().st_size
            back = {"add": {**fields, "size": size, "dataChange": True}}
            lake.commit(gone, {"add": {**back["add"], "modificationTime": 7}})
        return lake

    def changes(self, caller, lake, text: str, **headers: str) -> list[Answer]:
        answers, token = [], ""
        while token or not answers:
            page = f"&pageToken={token}" if token else ""
            answers.append(caller.get(f"{lake.path}/changes?{text}{page}", **headers))
            token = end_of(answers[-1]).get("nextPageToken", "")
        return answers

    @pytest.mark.parametrize("headers", [{}, IN_DELTA])
    @pytest.mark.parametrize("max_files", [1, 2, 4, 99])
    def test_are_together_the_one_answer(self, acme, grown, max_files, headers) -> None:
        body = {"startingVersion": 2}
        whole = lines(acme.query(grown.path, body, **headers))

        pages = read_pages(acme, grown, {**body, "maxFiles": max_files}, **headers)

        found = [line for page in pages for line in lines(page)[2:-1]]
        assert without_urls(found) == without_urls(whole[2:])
        assert {tuple(head_of(page)) for page in pages} == {
            tuple(head_of(acme.query(grown.path, body, **headers)))
        }
        assert {page["Delta-Table-Version"] for page in pages} == {"2"}

    def test_end_where_the_first_one_says(self, acme: Caller, grown: Lake) -> None:
        body = {"startingVersion": 1, "maxFiles": 3}
        whole = lines(acme.query(grown.path, {"startingVersion": 1}))[2:]
        first = acme.query(grown.path, body)
        grown.append("2026-01-09")
        token = end_of(first)["nextPageToken"]

        rest = acme.query(grown.path, {"startingVersion": 1, "pageToken": token})

        assert "nextPageToken" not in end_of(rest)
        found = [*lines(first)[2:-1], *lines(rest)[2:-1]]
        assert without_urls(found) == without_urls(whole)

    def test_hold_to_the_filter_of_the_share(self, acme: Caller, grown: Lake) -> None:
        share_with(grown, partition_filter="day = '2026-01-02'")
        whole = lines(acme.query(grown.path, {"startingVersion": 1}))

        pages = read_pages(acme, grown, {"startingVersion": 1, "maxFiles": 1})

        found = [line for page in pages for line in lines(page)[2:-1]]
        assert without_urls(found) == without_urls(whole[2:])

    def test_come_of_the_feed_too(self, acme: Caller, grown: Lake) -> None:
        feed = {"delta.enableChangeDataFeed": "true"}
        grown.commit(
            grown.writer.metadata(
                SCHEMA,
                created_at=commit_time(0),
                partition_columns=["day"],
                configuration=feed,
            )
        )
        for day in DAYS:
            grown.append(day)
        text = "startingVersion=7"
        whole = lines(acme.get(f"{grown.path}/changes?{text}"))

        pages = self.changes(acme, grown, f"{text}&maxFiles=2")

        found = [line for page in pages for line in lines(page)[2:-1]]
        assert without_urls(found) == without_urls(whole[2:])
        assert len(pages) == 2

    @pytest.mark.parametrize("text", ["maxFiles=0", "maxFiles=x", "pageToken=x"])
    def test_of_no_sense_are_refused(self, acme, grown, text: str) -> None:
        answer = acme.get(f"{grown.path}/changes?startingVersion=1&{text}")

        assert text.partition("=")[0] in refused(answer)

    def test_are_refused_with_the_token_of_a_snapshot(self, acme, grown) -> None:
        token = end_of(acme.query(grown.path, {"maxFiles": 1}))["nextPageToken"]

        answer = acme.query(grown.path, {"startingVersion": 1, "pageToken": token})

        assert "pageToken" in refused(answer)


def without_urls(found: list[dict[str, Any]]) -> list[str]:
    """Lines without what is signed anew with every answer."""
    return [_without_url(json.dumps(line)) for line in found]


def _without_url(text: str) -> str:
    def plain(value: Any) -> Any:  # noqa: ANN401 (JSON)
        if isinstance(value, dict):
            left_out = {"url", "expirationTimestamp", "path"}
            return {k: plain(v) for k, v in value.items() if k not in left_out}
        return value

    return json.dumps(plain(json.loads(text)))
