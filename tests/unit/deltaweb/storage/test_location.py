"""However it is written, a location has one form."""

from pathlib import Path

import pytest

from deltaweb.delta.errors import LocationInvalidError
from deltaweb.storage.location import normalize_location


class TestNormalizeLocation:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            pytest.param("/lake/t/", "/lake/t", id="a trailing slash"),
            pytest.param("/lake/x/../t", "/lake/t", id="a turn"),
            pytest.param("file:///lake/a%20b", "/lake/a b", id="a file URL"),
            pytest.param("file:/lake/t", "/lake/t", id="a short file URL"),
            pytest.param("FILE:///lake/t", "/lake/t", id="an upper file URL"),
            pytest.param("file://localhost/lake/t", "/lake/t", id="this machine"),
            pytest.param("File://LocalHost/a%20b", "/a b", id="in any letters"),
            pytest.param("S3://bucket/t/", "s3://bucket/t", id="an upper scheme"),
            pytest.param("s3://bucket//a/./t", "s3://bucket/a/t", id="doubled slashes"),
            pytest.param("s3://bucket/a/../../t", "s3://t", id="a turn in a URL"),
            pytest.param("  /lake/t ", "/lake/t", id="spaces around"),
        ],
    )
    def test_gives_one_form(self, text: str, expected: str) -> None:
        assert normalize_location(text) == expected

    def test_a_relative_path_starts_at_the_working_folder(self) -> None:
        assert normalize_location("t") == str(Path.cwd() / "t")

    @pytest.mark.parametrize(
        "text",
        [
            *["", "  ", "a\0b", "x" * 5000, "s3://", "s3:///"],
            *["file://other/lake", "FILE://localhost.evil/lake", "file://[/lake"],
            *["file://localhost:80/lake", "file://me@localhost/lake"],
        ],
    )
    def test_refuses_what_is_no_location(self, text: str) -> None:
        with pytest.raises(LocationInvalidError):
            normalize_location(text)
