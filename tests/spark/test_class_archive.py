"""An archive of classes is used where it is whole, and left aside where it is not."""

from pathlib import Path

import pytest

from deltaweb.spark.driver import class_archive
from deltaweb.spark.driver.class_archive import (
    find_archive,
    keep_archive,
    reading_options,
)


@pytest.fixture
def java_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(class_archive, "FOLDER", tmp_path / "share")
    home = tmp_path / "java"
    home.mkdir()
    (home / "release").write_text('JAVA_VERSION="17.0.15"')
    return home


@pytest.fixture
def kept(tmp_path: Path, java_home: Path) -> Path:
    made = tmp_path / "classes.jsa"
    made.write_bytes(b"classes")
    return keep_archive(made, java_home)


def test_a_jvm_reads_the_archive_that_is_kept(java_home: Path, kept: Path) -> None:
    assert find_archive(java_home) == kept
    assert f"-XX:SharedArchiveFile={kept} " in reading_options(java_home)


def test_no_archive_is_no_option(java_home: Path) -> None:
    assert reading_options(java_home) == ""


def test_an_archive_that_was_cut_off_is_left_aside(java_home: Path, kept: Path) -> None:
    kept.write_bytes(b"class")

    assert find_archive(java_home) is None


def test_a_new_archive_takes_the_place_of_the_old(tmp_path, java_home, kept):
    (tmp_path / "again.jsa").write_bytes(b"more classes")

    newer = keep_archive(tmp_path / "again.jsa", java_home)

    assert not kept.exists()
    assert find_archive(java_home) == newer


@pytest.mark.usefixtures("kept")
def test_another_java_has_an_archive_of_its_own(java_home: Path) -> None:
    (java_home / "release").write_text('JAVA_VERSION="21.0.8"')

    assert find_archive(java_home) is None
