"""An answer in pages, which are of one version and together the whole answer."""

import json
from datetime import timedelta
from typing import Any

import pytest

from apps.audit.models import AuditEvent
from apps.sharing.models import Grant
from tests.functional.sharing_api.calls import (
    DAYS,
    SCHEMA,
    Answer,
    Caller,
    Lake,
    commit_time,
    lines,
    refused,
)
from tests.functional.sharing_api.ends import (
    IN_DELTA,
    end_of,
    head_of,
    ids_of,
    later,
    read_pages,
    share_with,
)
from tests.support import cases


class TestPages:
    @cases(
        "max_files, asked, headers",
        {
            "a file": (1, {}, {}),
            "a file, a version, delta": (1, {"version": 2}, IN_DELTA),
            "all files of a version": (2, {"version": 2}, {}),
            "some files, delta": (2, {}, IN_DELTA),
            "all files": (3, {}, {}),
            "more than all, delta": (9, {}, IN_DELTA),
            "hints": (1, {"predicateHints": ["day > '2026-01-01'"]}, {}),
        },
    )
    def test_are_together_the_one_answer(self, acme, lake, max_files, asked, headers):
        for condition in ("", "day >= '2026-01-02'"):
            share_with(lake, condition=condition)
            whole = acme.query(lake.path, asked, **headers)
            pages = read_pages(acme, lake, {**asked, "maxFiles": max_files}, **headers)

            found = [file_id for page in pages for file_id in ids_of(page)]
            assert found == ids_of(whole)
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

    def test_hold_to_a_limit(self, acme: Caller, lake: Lake) -> None:
        pages = read_pages(acme, lake, {"limitHint": 15, "maxFiles": 1})

        assert [len(ids_of(page)) for page in pages] == [1, 1]

    def test_are_recorded_with_their_own_files(self, acme: Caller, lake: Lake) -> None:
        lines(acme.query(lake.path, {"maxFiles": 2}))

        event = AuditEvent.objects.first()
        assert event is not None
        assert (event.num_files, event.total_files) == (2, 3)

    @pytest.mark.parametrize("count", [0, -1])
    def test_of_no_file_are_refused(self, acme: Caller, lake: Lake, count: int) -> None:
        refused(acme.query(lake.path, {"maxFiles": count}))


class TestPageToken:
    @pytest.fixture
    def token(self, acme: Caller, lake: Lake) -> str:
        found: str = end_of(acme.query(lake.path, {"maxFiles": 1}))["nextPageToken"]
        return found

    @cases(
        "body, headers",
        {
            "hints": ({"predicateHints": ["id = 1"]}, {}),
            "hints in JSON": ({"jsonPredicateHints": "{}"}, {}),
            "a limit": ({"limitHint": 5}, {}),
            "a version": ({"version": 3}, {}),
            "changes": ({"startingVersion": 1}, {}),
            "another format": ({}, IN_DELTA),
        },
    )
    def test_of_another_query_is_refused(self, acme, lake, token, body, headers):
        answer = acme.query(lake.path, {**body, "pageToken": token}, **headers)

        assert "Send the nextPageToken of the page before" in refused(answer)

    def test_of_another_recipient_is_refused(self, lake, token, new_caller) -> None:
        globex = new_caller("globex", lake.shared.share)

        assert "pageToken" in refused(globex.query(lake.path, {"pageToken": token}))

    def test_is_good_with_another_token_of_the_recipient(self, acme, lake, token):
        asked = {"pageToken": token, "includeRefreshToken": False, "maxFiles": 7}

        assert len(ids_of(acme.query(lake.path, asked))) == 2

    def test_that_was_altered_is_refused(self, acme, lake, token: str) -> None:
        altered = token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")

        for text in (altered, "é", "\x00"):
            assert "pageToken" in refused(acme.query(lake.path, {"pageToken": text}))

    def test_ends_after_an_hour(self, acme, lake, token, monkeypatch) -> None:
        later(monkeypatch, timedelta(minutes=61))

        message = refused(acme.query(lake.path, {"pageToken": token}))

        assert "it has expired" in message
        assert "Send the query again from its beginning" in message

    @pytest.mark.parametrize(
        "terms",
        [
            {"condition": "day >= '2026-01-01'"},
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

        refused(answer, "RESOURCE_DOES_NOT_EXIST", 404)

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

        assert "the table has changed" in message


class TestPagesOfChanges:
    @pytest.fixture
    def grown(self, lake: Lake) -> Lake:
        """The table, of whose later versions each changes several files."""
        for path, day in zip(lake.paths, DAYS, strict=True):
            fields = {
                "path": path,
                "partitionValues": {"day": day},
                "dataChange": True,
            }
            size = (lake.root / path).stat().st_size
            lake.commit(
                {"remove": {**fields, "deletionTimestamp": 7}},
                {"add": {**fields, "size": size, "modificationTime": 7}},
            )
        return lake

    def changes(self, caller, lake, text: str, **headers: str) -> list[Answer]:
        answers: list[Answer] = []
        token = ""
        while token or not answers:
            page = f"&pageToken={token}" if token else ""
            answers.append(caller.get(f"{lake.path}/changes?{text}{page}", **headers))
            token = end_of(answers[-1]).get("nextPageToken", "")
        return answers

    @pytest.mark.parametrize(
        ("max_files", "condition", "headers"),
        [
            (1, "", IN_DELTA),
            (1, "day = '2026-01-02'", {}),
            (2, "", {}),
            (4, "", IN_DELTA),
            (99, "", {}),
        ],
    )
    def test_are_together_the_one_answer(
        self, acme, grown, max_files, condition, headers
    ):
        share_with(grown, condition=condition)
        body = {"startingVersion": 2}
        whole = acme.query(grown.path, body, **headers)

        pages = read_pages(acme, grown, {**body, "maxFiles": max_files}, **headers)

        found = [line for page in pages for line in lines(page)[2:-1]]
        assert without_urls(found) == without_urls(lines(whole)[2:])
        assert {tuple(head_of(page)) for page in pages} == {tuple(head_of(whole))}
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


def without_urls(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Lines without what is signed anew with every answer."""
    if isinstance(value, list):
        return [without_urls(one) for one in value]
    if isinstance(value, dict):
        left_out = {"url", "expirationTimestamp", "path"}
        return {k: without_urls(v) for k, v in value.items() if k not in left_out}
    return value
