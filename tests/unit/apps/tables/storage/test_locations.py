from pathlib import Path

import pytest

from apps.tables.storage.locations import (
    check_allowed,
    check_present,
    parse_location,
    parse_root,
)
from deltaweb.delta.errors import (
    LocationDeniedError,
    LocationInvalidError,
    LocationNotAllowedError,
    LocationNotFoundError,
)
from tests.support import cases


class TestParseLocation:
    @cases(
        "text, expected",
        {
            "a path": ("/lake/orders", "/lake/orders"),
            "a slash at the end": ("/lake/orders/", "/lake/orders"),
            "dots are resolved": ("/lake/../etc", "/etc"),
            "doubled slashes": ("//lake//orders", "/lake/orders"),
            "a file URL": ("file:///lake/or%20ders", "/lake/or ders"),
            "a bucket": ("s3://bucket/orders/", "s3://bucket/orders"),
            "dots in a bucket": ("s3://b//a/./x/..", "s3://b/a"),
            "a loud scheme": ("S3://Bucket/a", "s3://Bucket/a"),
            "a container": ("abfss://c@a.net/x", "abfss://c@a.net/x"),
        },
    )
    def test_spells_a_place_one_way(self, text: str, expected: str) -> None:
        assert parse_location(text) == expected

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "   ",
            "orders",
            "../orders",
            "/lake/\x00",
            "/lake/a\nb",
            "file://host/lake",
            "file:///lake/%00",
            "http://169.254.169.254/latest",
            "ftp://host/x",
            "simplecache::file:///etc",
            "simplecache::s3://bucket/x",
            "s3://bucket/x::file:///etc",
            "s3://key:secret@bucket/x",
            "zip://x::/etc/a.zip",
            "s3://bucket/../x",
            "s3://[",
            "file://[::1/x",
            "s3://bucket/a/../../x",
            "s3://../x",
            "/" + "x" * 2001,
        ],
    )
    def test_refuses_what_is_no_place_of_a_table(self, text: str) -> None:
        with pytest.raises(LocationInvalidError):
            parse_location(text)

    @pytest.mark.parametrize(
        "text",
        [
            "s3://key:hidden@bucket/x",
            "s3://key:hidden@[",
            "s3a://key:hidden@bucket/x",
            "gcs://hidden@bucket/x",
            "az://hidden@container/x",
            "abfss://container:hidden@account.net/x",
            "abfss://container@account.net/x?sig=hidden",
            "s3://bucket/x?X-Amz-Signature=hidden",
            "https://user:hidden@host/x",
        ],
    )
    def test_refuses_a_secret_without_repeating_it(self, text: str) -> None:
        with pytest.raises(LocationInvalidError) as caught:
            parse_location(text)

        assert "hidden" not in str(caught.value)

    def test_a_command_starts_from_its_folder(self, tmp_path: Path) -> None:
        assert parse_location("orders", base=tmp_path) == f"{tmp_path}/orders"
        assert parse_location("/lake", base=tmp_path) == "/lake"


class TestCheckAllowed:
    def test_allows_everything_without_roots(self) -> None:
        check_allowed("/anywhere", roots=None)

    def test_allows_a_root_and_what_is_below(self, tmp_path: Path) -> None:
        check_allowed(str(tmp_path), roots=[str(tmp_path)])
        check_allowed(f"{tmp_path}/a/b", roots=[str(tmp_path)])

    def test_refuses_a_sibling_that_starts_alike(self, tmp_path: Path) -> None:
        with pytest.raises(LocationNotAllowedError):
            check_allowed(f"{tmp_path}2", roots=[str(tmp_path)])

    @pytest.mark.parametrize("linked", ["table", "log"])
    def test_follows_links_before_it_decides(self, tmp_path: Path, linked: str) -> None:
        lake, outside = tmp_path / "lake", tmp_path / "outside"
        (outside / "_delta_log").mkdir(parents=True)
        lake.mkdir()
        table = lake / "orders"
        if linked == "table":
            table.symlink_to(outside)
        else:
            table.mkdir()
            (table / "_delta_log").symlink_to(outside / "_delta_log")

        with pytest.raises(LocationNotAllowedError):
            check_allowed(str(table), roots=[str(lake)])

    def test_refuses_a_link_that_may_not_be_followed(self, closed_link: Path) -> None:
        with pytest.raises(LocationDeniedError):
            check_allowed(str(closed_link), roots=[str(closed_link.parent)])

    @cases(
        "root, location",
        {
            "the bucket itself": ("s3://lake", "s3://lake"),
            "a slash at the end": ("s3://lake/", "s3://lake/orders"),
            "another scheme": ("s3://lake", "s3a://lake/orders"),
            "of Google": ("gcs://lake/a", "gs://lake/a/orders"),
            "a loud scheme": ("S3://lake", "s3://lake/orders"),
            "every bucket": ("s3://", "s3://any/orders"),
            "a host has no capitals": (
                "abfss://c@Lake.dfs.core.windows.net",
                "abfss://c@lake.DFS.core.windows.net/orders",
            ),
        },
    )
    def test_allows_a_url_below_a_prefix(self, root: str, location: str) -> None:
        check_allowed(parse_location(location), roots=["/srv", root])

    @cases(
        "root, location",
        {
            "folders hold no URL": ("/srv", "s3://anybodys/x"),
            "nor does the root": ("/", "s3://anybodys/x"),
            "starts alike": ("s3://lake", "s3://lake2/x"),
            "a path that starts alike": ("s3://lake/a", "s3://lake/ab"),
            "what is above": ("s3://lake/a", "s3://lake"),
            "what is beside": ("s3://lake/a", "s3://lake/a/../b"),
            "another store": ("s3://lake", "gs://lake/x"),
            "buckets have capitals": ("s3://lake", "s3://Lake/x"),
            "a local path": ("s3://lake", "/lake/x"),
            "another host": (
                "abfss://c@lake.dfs.core.windows.net",
                "abfss://c@attacker.example/x",
            ),
            "a host of one's own": ("abfs://c", "abfss://c@attacker.example/x"),
        },
    )
    def test_refuses_a_url_outside_of_it(self, root: str, location: str) -> None:
        with pytest.raises(LocationNotAllowedError):
            check_allowed(parse_location(location), roots=[root])


class TestParseRoot:
    @cases(
        "text, root",
        {
            "a folder": ("/srv/tables/", "/srv/tables/"),
            "a prefix": ("S3A://lake/a/", "s3://lake/a"),
        },
    )
    def test_spells_it_one_way(self, text: str, root: str) -> None:
        assert parse_root(text) == root

    @pytest.mark.parametrize(
        "text", ["s3://", "ftp://host/x", "s3://a/../b", "s3://key@bucket"]
    )
    def test_refuses_what_holds_no_table(self, text: str) -> None:
        with pytest.raises(LocationInvalidError):
            parse_root(text)


def test_a_missing_folder_is_called_missing(tmp_path: Path) -> None:
    with pytest.raises(LocationNotFoundError):
        check_present(f"{tmp_path}/nothing")


def test_a_file_is_no_place_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(LocationInvalidError):
        check_present(f"{tmp_path}/file")
