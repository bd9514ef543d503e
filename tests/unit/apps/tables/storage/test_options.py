from pathlib import Path

import pytest

from apps.tables.storage.errors import StorageOptionError, StorageReferenceError
from apps.tables.storage.options import MAX_VALUE_BYTES, parse_options, resolve
from tests.support import cases

HERE = Path("/here")


class TestParse:
    def test_keeps_values_as_they_are(self) -> None:
        texts = ["key=a=b==", "client_kwargs.endpoint_url=http://x", "secret="]

        assert parse_options(texts, base=HERE) == {
            "key": "a=b==",
            "client_kwargs.endpoint_url": "http://x",
            "secret": "",
        }

    def test_keeps_references_and_makes_their_paths_absolute(self) -> None:
        texts = ["key=env:LAKE_KEY", "secret=file:a/b", "token=file:/c"]

        assert parse_options(texts, base=HERE) == {
            "key": "env:LAKE_KEY",
            "secret": "file:/here/a/b",
            "token": "file:/c",
        }

    @cases(
        "texts",
        {
            "no key": ["hunter2"],
            "an empty key": ["=hunter2"],
            "a key of other characters": ["hunter2!=x"],
            "a key with an empty part": ["a..b=hunter2"],
            "a deep key": ["a.b.c.d.e.f=hunter2"],
            "a key twice": ["key=hunter2", "key=hunter2"],
            "a value and a mapping": ["a=hunter2", "a.b=hunter2"],
            "a NUL": ["key=hunter2\0"],
            "a long value": ["key=" + "hunter2" * MAX_VALUE_BYTES],
            "no name of a variable": ["key=env:hunter2!"],
            "no path": ["key=file:"],
        },
    )
    def test_refuses_without_telling_the_value(self, texts: list[str]) -> None:
        with pytest.raises(StorageOptionError) as caught:
            parse_options(texts, base=HERE)
        assert "hunter2" not in str(caught.value)


class TestResolve:
    def test_nests_and_types_as_drivers_take_them(self) -> None:
        options = {
            "key": "123456",
            "anon": "false",
            "client_kwargs.verify": "true",
            "config_kwargs.max_pool_connections": "50",
            "config_kwargs.s3.addressing_style": "path",
            "token": '{"client_email": "a"}',
            "password": "{no JSON",
        }

        assert resolve(options, storage="lake") == {
            "key": "123456",
            "anon": False,
            "client_kwargs": {"verify": True},
            "config_kwargs": {
                "max_pool_connections": 50,
                "s3": {"addressing_style": "path"},
            },
            "token": {"client_email": "a"},
            "password": "{no JSON",
        }

    def test_looks_references_up_at_each_use(self, monkeypatch, tmp_path):
        file = tmp_path / "secret"
        options = {"key": "env:LAKE_KEY", "secret": f"file:{file}"}
        for value in ("first", "second"):
            monkeypatch.setenv("LAKE_KEY", value)
            file.write_text(f"{value} of the file\n")

            assert resolve(options, storage="lake") == {
                "key": value,
                "secret": f"{value} of the file",
            }

    @pytest.mark.parametrize("content", [b"\xff\xfe", b"a" * (MAX_VALUE_BYTES + 1)])
    def test_a_file_that_is_no_short_text_is_named(self, content, tmp_path):
        file = tmp_path / "secret"
        file.write_bytes(content)

        with pytest.raises(StorageReferenceError, match=f"{file}.*not a short text"):
            resolve({"key": f"file:{file}"}, storage="lake")

    @pytest.mark.parametrize(
        ("reference", "message"),
        [
            ("env:LAKE_KEY", "key from the variable LAKE_KEY, which is not set"),
            ("file:/nowhere/key", "/nowhere/key, which cannot be read .No such file"),
            ("file:/", "the file /, which cannot be read"),
        ],
    )
    def test_what_is_missing_is_named(self, reference, message, monkeypatch):
        monkeypatch.delenv("LAKE_KEY", raising=False)

        with pytest.raises(StorageReferenceError, match=message) as caught:
            resolve({"key": reference}, storage="lake")
        assert caught.value.code == "storage-reference-missing"
