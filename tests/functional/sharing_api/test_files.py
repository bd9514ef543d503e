import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, unquote_to_bytes

import pytest
from django.test import Client
from django.utils import timezone

from apps.sharing.models import Grant, SharedTable
from tests.functional.sharing_api.calls import (
    PREFIX,
    Answer,
    Caller,
    Lake,
    body_of,
    files,
    local,
    refused,
)
from tests.support import cases


@pytest.fixture
def url(acme: Caller, lake: Lake) -> str:
    """The URL of the first file, below the endpoint."""
    found = files(acme.query(lake.path, {"version": 1}))
    return local(found[0]["url"])


@pytest.fixture
def place(lake: Lake) -> Path:
    """Where the first file lies."""
    return lake.root / unquote(lake.paths[0])


@pytest.fixture
def content(place: Path) -> bytes:
    """What is in the first file."""
    return place.read_bytes()


def fetch(url: str, method: str = "GET", **headers: str) -> Answer:
    """Ask as file readers do: by the URL alone, without a token."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    client = Client(raise_request_exception=False)
    answer: Answer = client.generic(method, f"{PREFIX}{url}", headers=named)
    body_of(answer)
    return answer


def denied(answer: Answer) -> str:
    """The message of a request for a file that is refused."""
    return refused(answer, "PERMISSION_DENIED", 403)


class TestFile:
    def test_is_whole(self, url: str, content: bytes) -> None:
        answer = fetch(url)

        assert answer.status_code == 200
        assert body_of(answer) == content
        assert answer["Content-Length"] == str(len(content))
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Accept-Ranges"] == "bytes"
        assert "no-store" in answer["Cache-Control"]
        assert "Content-Encoding" not in answer

    def test_is_not_compressed_whatever_is_accepted(self, url: str, content: bytes):
        answer = fetch(url, Accept_Encoding="gzip, deflate, br", Accept="text/html")

        assert body_of(answer) == content
        assert "Content-Encoding" not in answer

    def test_head_tells_its_length(self, url: str, content: bytes) -> None:
        answer = fetch(url, "HEAD", Accept_Encoding="identity", Range="bytes=0-1")

        assert answer.status_code == 200
        assert answer["Content-Length"] == str(len(content))
        assert answer["Accept-Ranges"] == "bytes"
        assert body_of(answer) == b""

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
    def test_is_only_read(self, url: str, method: str) -> None:
        assert fetch(url, method).status_code == 405

    def test_survives_urls_that_are_quoted_again(self, url: str, content: bytes):
        path, _, query = url.partition("?")
        for spelling in (
            f"{quote(unquote(path), safe='/=')}?{query}",
            f"{path.replace('%3D', '=').replace('-', '%2D')}?{query}",
            f"{path}?{query.replace('=r', '=%72')}&extra=1",
            f"{path}?{'&'.join(reversed(query.split('&')))}",
        ):
            assert body_of(fetch(spelling)) == content

    def test_that_is_gone_is_404(self, lake: Lake, url: str) -> None:
        (lake.root / unquote(lake.paths[0])).unlink()

        refused(fetch(url), "RESOURCE_DOES_NOT_EXIST", 404)
        assert fetch(url, "HEAD").status_code == 404


class TestRange:
    def test_is_answered_with_that_part(self, url: str, content: bytes) -> None:
        for header, first, last in (
            *(("bytes=0-0", 0, 0), ("bytes=4-9", 4, 9), ("bytes=5-", 5, None)),
            *(("bytes=-8", -8, None), ("bytes=-99999999", 0, None)),
            *(("bytes=0-", 0, None), (" Bytes = 4 - 9 ", 4, 9)),
            ("bytes=10-99999999999999999999", 10, None),
        ):
            expected = content[first : None if last is None else last + 1]

            answer = fetch(url, Range=header)

            assert answer.status_code == 206, header
            assert body_of(answer) == expected, header
            assert answer["Content-Length"] == str(len(expected))
            start = first % len(content)
            end = start + len(expected) - 1
            assert answer["Content-Range"] == f"bytes {start}-{end}/{len(content)}"

    @pytest.mark.parametrize(
        "header",
        ["bytes=99999-", "bytes=99999-100000", "bytes=-0", "bytes=" + "9" * 50 + "-"],
    )
    def test_of_nothing_is_416(self, url: str, content: bytes, header: str) -> None:
        answer = fetch(url, Range=header)

        refused(answer, status=416)
        assert answer["Content-Range"] == f"bytes */{len(content)}"

    def test_that_is_malformed_or_of_parts_is_ignored(self, url, content) -> None:
        for header in (
            *("bytes=0-1,4-5", "bytes=9-4", "bytes=-", "bytes=a-b", "bytes 0-1"),
            *("lines=0-1", "bytes=--5", "bytes=٣-٤", ""),
        ):
            answer = fetch(url, Range=header)

            assert answer.status_code == 200, header
            assert body_of(answer) == content, header

    def test_of_an_empty_file_is_416(self, lake: Lake, url: str) -> None:
        (lake.root / unquote(lake.paths[0])).write_bytes(b"")

        assert fetch(url, Range="bytes=0-0").status_code == 416
        assert fetch(url).status_code == 200
        assert fetch(url)["Content-Length"] == "0"

    def test_goes_on_only_with_the_same_file(self, lake, url, content):
        etag = fetch(url, "HEAD")["ETag"]

        assert fetch(url, Range="bytes=4-", If_Range=etag).status_code == 206

        os.utime(lake.root / unquote(lake.paths[0]), (1, 1))
        answer = fetch(url, Range="bytes=4-", If_Range=etag)
        assert answer.status_code == 200
        assert body_of(answer) == content


def decoded(url: str) -> tuple[bytes, frozenset[tuple[str, str]]]:
    """What a URL names after decoding once, its parameters in any order."""
    path, _, query = url.partition("?")
    pairs = parse_qsl(query.partition("#")[0], keep_blank_values=True)
    signed = {"sp", "se", "sz", "tk", "tm", "sig"}
    return unquote_to_bytes(path), frozenset(p for p in pairs if p[0] in signed)


def changed_bytes(url: str) -> Iterator[str]:
    """Yield the URL with each of its bytes replaced, encoded, left out or repeated."""
    for position, sign in enumerate(url):
        before, after = url[:position], url[position + 1 :]
        yield f"{before}{after}"
        yield f"{before}{sign}{sign}{after}"
        yield f"{before}%{ord(sign):02X}{after}"
        yield f"{before}%25{ord(sign):02X}{after}"
        yield f"{before}{chr(ord(sign) ^ 1)}{after}"
        yield f"{before}{sign.swapcase()}{after}"


def other_paths(url: str) -> Iterator[str]:
    """Yield the URL with paths that some servers and proxies take for the same."""
    path, _, query = url.partition("?")
    folder, _, name = path.rpartition("/")
    for path_changed in (
        f"{folder}//{name}",
        f"{folder}/./{name}",
        f"{folder}/%2e/{name}",
        f"{folder}/x/../{name}",
        f"{folder}/x/%2e%2e/{name}",
        f"{folder}/x%2F..%2F{name}",
        f"{folder}%2F{name}",
        f"{folder}%5C{name}",
        f"{folder}/%252e%252e/{name}",
        f"{folder}/{name}/",
        f"{folder}/{name}%00",
        f"{folder}/{name};x",
        f"/x/..{path}",
        f"{path.replace('/files/', '/files//', 1)}",
        f"{path.replace('/files/', '/x/../files/', 1)}",
        f"{path.replace('/files/', '/prepared/', 1)}",
    ):
        yield f"{path_changed}?{query}"
    for query_changed in (
        f"{query}&{query}",
        f"{query}&sp=w",
        f"{query};sp=r",
        f"{query}&sz=1",
        query.replace("&", "&&", 1),
        query.replace("&", ";"),
        query.upper(),
        query.replace("sig=", "sig=%20"),
    ):
        yield f"{path}?{query_changed}"


class TestChangedURL:
    def test_of_any_character_is_refused(self, url: str) -> None:
        path, _, query = url.partition("?")
        place = path.index("day")
        for position in range(place, len(path), 7):
            changed = "x" if path[position] != "x" else "y"
            changed_path = path[:position] + changed + path[position + 1 :]
            denied(fetch(f"{changed_path}?{query}"))

    def test_opens_the_file_only_if_it_decodes_to_the_same(self, url, content) -> None:
        opened = 0
        for changed in {*changed_bytes(url), *other_paths(url)} - {url}:
            answer = fetch(changed)
            if decoded(changed) == decoded(url):
                assert (answer.status_code, body_of(answer)) == (200, content), changed
                opened += 1
            else:
                assert answer.status_code in {400, 403, 404}, changed
        assert opened

    @pytest.mark.parametrize("name", ["se", "sz", "tk", "sig"])
    def test_of_any_value_is_refused(self, url: str, name: str) -> None:
        path, _, query = url.partition("?")
        values = dict(pair.split("=") for pair in query.split("&"))
        first, rest = values[name][0], values[name][1:]
        changed = ("1" if first != "1" else "2") + rest
        for value in (changed, "", "0", "-1", "9" * 30, "%00", "ff", "٣"):
            values[name] = value
            query = "&".join(f"{k}={v}" for k, v in values.items())
            denied(fetch(f"{path}?{query}"))

    @pytest.mark.parametrize("name", ["se", "sz"])
    def test_of_another_spelling_is_refused(self, url: str, name: str) -> None:
        denied(fetch(url.replace(f"{name}=", f"{name}=0")))

    def test_of_the_dashes_is_refused(self, url: str, lake: Lake) -> None:
        table_id = str(lake.shared.id)
        spelled = table_id.replace("-", "") + "----"

        assert fetch(url.replace(table_id, spelled)).status_code == 404

    def test_of_share_or_table_or_without_its_query_is_refused(self, url, lake):
        table_id = str(lake.shared.id)
        other = table_id[:-1] + ("0" if table_id[-1] != "0" else "1")

        denied(fetch(url.partition("?")[0]))
        denied(fetch(url.replace("/files/Sales/", "/files/Other/")))
        denied(fetch(url.replace(table_id, other)))

    def test_that_expired_is_refused(self, acme, lake, settings):
        settings.FILE_URL_LIFETIME_S = 0
        found = files(acme.query(lake.path))

        assert "valid until" in denied(fetch(local(found[0]["url"])))

    def test_of_a_former_key_is_good_as_long_as_the_key_is_known(self, url, settings):
        former = settings.SECRET_KEY
        settings.SECRET_KEY = "another-key-of-fifty-characters-for-this-test-alone"
        denied(fetch(url))

        settings.SECRET_KEY_FALLBACKS = [former]
        assert fetch(url).status_code == 200


class TestAccess:
    @cases(
        "end, word",
        {
            "token": (
                lambda acme: acme.recipient.tokens.update(revoked_at=timezone.now()),
                "revoked",
            ),
            "token on its way out": (
                lambda acme: acme.recipient.tokens.update(retires_at=timezone.now()),
                "ended",
            ),
            "grant": (lambda _: Grant.objects.all().delete(), ""),
            "table": (lambda _: SharedTable.objects.all().delete(), ""),
            "recipient": (lambda acme: acme.recipient.delete(), ""),
        },
    )
    def test_ends_with_what_it_was_given_by(self, acme, url, end, word):
        end(acme)

        assert word in denied(fetch(url))

    def test_is_only_from_addresses_of_the_list(self, acme: Caller, url: str) -> None:
        acme.recipient.allowed_networks = ["10.0.0.0/8"]
        acme.recipient.save()
        denied(fetch(url))

        acme.recipient.allowed_networks = ["127.0.0.0/8"]
        acme.recipient.save()
        assert fetch(url).status_code == 200


class TestPathOutside:
    """What a signed URL can reach when the table's folder is hostile."""

    @pytest.mark.parametrize("roots", [False, True], ids=["", "within allowed roots"])
    def test_is_not_followed_by_a_link_to_a_file(
        self, place, url, tmp_path, settings, roots
    ):
        settings.ALLOWED_ROOTS = [str(tmp_path)] if roots else []
        secret = tmp_path / "secret"
        secret.write_text("secret")
        place.unlink()
        place.symlink_to(secret)

        assert "outside" in denied(fetch(url))

    def test_is_not_followed_by_a_link_to_a_folder(self, place, url, tmp_path):
        elsewhere = tmp_path / "elsewhere"
        place.parent.rename(elsewhere)
        place.parent.symlink_to(elsewhere)

        denied(fetch(url))

    def test_a_link_that_stays_inside_is_followed(self, lake, place, url, content):
        place.rename(lake.root / "moved")
        place.symlink_to(lake.root / "moved")

        assert body_of(fetch(url)) == content

    def test_the_tables_folder_may_be_a_link_itself(self, lake, url, content, tmp_path):
        lake.root.rename(tmp_path / "moved")
        lake.root.symlink_to(tmp_path / "moved")

        assert body_of(fetch(url)) == content

    @pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
    def test_a_pipe_or_folder_does_not_hang_the_server(self, place, url, make):
        place.unlink()
        make(place)

        assert fetch(url).status_code == 404

    def test_the_location_must_still_be_allowed(self, url, tmp_path, settings):
        settings.ALLOWED_ROOTS = [str(tmp_path / "elsewhere")]

        denied(fetch(url))

    def test_cannot_be_asked_for(self, url: str) -> None:
        head, _, query = url.partition("?")

        for path in (
            *("../secret", "%2e%2e/secret", "..%2fsecret", "a/../../secret"),
            *("/etc/passwd", "%2fetc%2fpasswd", "%00", "day%3D2026-01-01/%00"),
            *("_delta_log/00000000000000000000.json", "..%5csecret", "%ff%fe"),
        ):
            answer = fetch(f"{head[: head.index('day')]}{path}?{query}")

            assert answer.status_code in {403, 404}, path
            assert b"secret" not in body_of(answer), path
