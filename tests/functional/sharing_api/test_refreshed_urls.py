"""URLs that are made anew, and what an answer says at its end."""

from datetime import timedelta

import pytest
from pytest_django import Settings

from tests.functional.sharing_api.calls import Caller, Lake, body_of, lines, refused
from tests.functional.sharing_api.ends import (
    END,
    IN_DELTA,
    end_of,
    ids_of,
    later,
    share_with,
)


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

        assert "refreshToken is no longer valid" in refused(answer)

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
