"""A manifest shows whether files of an index are what was written."""

import json
from pathlib import Path
from zlib import crc32

import pytest

from deltaweb.index.folder.manifest import (
    MANIFEST,
    READ_BYTES,
    CorruptIndexError,
    Manifest,
    add_checksums,
    load_manifest,
    read_checksum,
    write_manifest,
)
from tests.support import cases

LONG = bytes(range(256)) * (READ_BYTES // 128)  # read in several pieces


def written(folder: Path) -> Manifest:
    folder.mkdir(exist_ok=True)
    (folder / "a").write_bytes(LONG)
    (folder / "b").write_bytes(b"")
    write_manifest(folder)
    manifest = load_manifest(folder)
    assert manifest is not None
    return manifest


def test_a_file_may_be_added_while_others_are_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(LONG)

    add_checksums(tmp_path, {"a": read_checksum(tmp_path / "a")})
    (tmp_path / "a").write_bytes(b"changed since")
    (tmp_path / "b").write_bytes(b"late")
    write_manifest(tmp_path)

    manifest = load_manifest(tmp_path)
    assert manifest is not None
    manifest.check("b")
    assert manifest.files["a"][0] == len(LONG)
    with pytest.raises(CorruptIndexError):
        manifest.check("a")


class TestCheck:
    def test_is_silent_where_nothing_has_changed(self, tmp_path: Path) -> None:
        manifest = written(tmp_path)

        manifest.check("a", "b")

        assert set(manifest.files) == {"a", "b"}

    @cases(
        "changed",
        {
            "empty": b"",
            "cut": LONG[:-1],
            "longer": LONG + b"x",
            "another last byte": LONG[:-1] + b"x",
            "another first byte": b"x" + LONG[1:],
        },
    )
    def test_tells_of_a_file_that_is_another(self, tmp_path: Path, changed: bytes):
        manifest = written(tmp_path)
        (tmp_path / "a").write_bytes(changed)

        with pytest.raises(CorruptIndexError):
            manifest.check("b", "a")

    @pytest.mark.parametrize("name", ["a", "unknown"])
    def test_tells_of_a_file_that_is_gone(self, tmp_path: Path, name: str) -> None:
        manifest = written(tmp_path)
        (tmp_path / name).unlink(missing_ok=True)

        with pytest.raises(CorruptIndexError):
            manifest.check(name)


class TestLoadSeal:
    def test_is_none_where_there_is_none(self, tmp_path: Path) -> None:
        assert load_manifest(tmp_path) is None

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", "7", '{"a": 7}', '{"a": ["x", 1]}']
    )
    def test_has_no_file_where_it_is_corrupt(self, tmp_path: Path, text: str) -> None:
        written(tmp_path)
        (tmp_path / MANIFEST).write_text(text)

        assert load_manifest(tmp_path) == Manifest(tmp_path, {})


class TestCheckParts:
    @pytest.fixture
    def manifest(self, tmp_path: Path) -> Manifest:
        """Four parts: looks have read three of them."""
        for name in "abcd":
            (tmp_path / name).write_bytes(LONG)
        known = read_checksum(tmp_path / "a")
        looks = {name: known._replace(look=9 - at) for at, name in enumerate("abc")}
        add_checksums(tmp_path, looks)
        write_manifest(tmp_path)
        manifest = load_manifest(tmp_path)
        assert manifest is not None
        return manifest

    def test_finds_one_that_no_look_has_read(self, manifest: Manifest) -> None:
        (manifest.folder / "d").write_bytes(LONG[:-1] + b"x")

        with pytest.raises(CorruptIndexError):
            manifest.check_parts(*"abcd")

    def test_reads_those_that_were_once_in_turn(self, manifest: Manifest) -> None:
        found = manifest.check_parts(*"abcd")
        assert [found.files[name].look for name in "abcd"] == [9, 8, 10, 10]

        for _ in range(3):
            found = found.check_parts(*"abcd")

        assert [found.files[name].look for name in "abcd"] == [12, 11, 13, 10]

    def test_finds_one_that_is_not_in_the_manifest(self, manifest: Manifest) -> None:
        with pytest.raises(CorruptIndexError):
            manifest.check_parts(*"abcde")


def test_the_manifest_of_an_older_release_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"rows")
    (tmp_path / "seal.json").write_text(json.dumps({"a": [4, crc32(b"rows")]}))

    manifest = load_manifest(tmp_path)

    assert manifest is not None
    manifest.check("a")
