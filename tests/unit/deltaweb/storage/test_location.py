"""However it is written, a location has one form."""

from pathlib import Path

import pytest

from deltaweb.delta.errors import LocationInvalidError
from deltaweb.storage.location import normalize_location
from tests.support import cases


class TestNormalizeLocation:
    @cases(
        "text, expected",
        {
            "a trailing slash": ("/lake/t/", "/lake/t"),
            "a turn": ("/lake/x/../t", "/lake/t"),
            "a file URL": ("file:///lake/a%20b", "/lake/a b"),
            "a short file URL": ("file:/lake/t", "/lake/t"),
            "an upper file URL": ("FILE:///lake/t", "/lake/t"),
            "this machine": ("file://localhost/lake/t", "/lake/t"),
            "in any letters": ("File://LocalHost/a%20b", "/a b"),
            "an upper scheme": ("S3://bucket/t/", "s3://bucket/t"),
            "doubled slashes": ("s3://bucket//a/./t", "s3://bucket/a/t"),
            "a turn in a URL": ("s3://bucket/a/../../t", "s3://t"),
            "spaces around": ("  /lake/t ", "/lake/t"),
        },
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
