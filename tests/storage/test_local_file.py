import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import (
    DataFileError,
    DataFileMissingError,
    PathEscapesTableError,
)
from deltaweb.storage.local_file import open_local_file

PARTS = st.sampled_from(
    ["..", ".", "", "a", "day=1", "%2e%2e", "..%2f", "secret", "~", "\\..", "é", "\0"]
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A table's folder with a file; beside it a secret and a folder of a like name."""
    table = tmp_path / "table"
    (table / "day=1").mkdir(parents=True)
    (table / "day=1" / "a b%.parquet").write_bytes(b"rows")
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "table-2").mkdir()
    (tmp_path / "table-2" / "secret").write_bytes(b"secret")
    return table


def content(root: Path, path: str) -> bytes:
    with open_local_file(str(root), path) as file:
        return file.read()


class TestOpenLocalFile:
    def test_takes_the_path_as_it_is(self, root: Path) -> None:
        assert content(root, "day=1/a b%.parquet") == b"rows"

    def test_takes_names_that_read_like_urls(self, root: Path) -> None:
        (root / "s3:").mkdir()
        (root / "s3:" / "x").write_bytes(b"mine")

        assert content(root, "s3:/x") == b"mine"

    @pytest.mark.parametrize(
        "path", ["../secret", "day=1/../../secret", "../table-2/secret", "..", "."]
    )
    def test_refuses_what_leads_out(self, root: Path, path: str) -> None:
        with pytest.raises(PathEscapesTableError):
            content(root, path)

    @pytest.mark.parametrize("path", ["nothing", "day=1", "day=1/a b%.parquet/x", ""])
    def test_knows_no_folder_and_no_missing_file(self, root: Path, path: str) -> None:
        with pytest.raises((DataFileMissingError, PathEscapesTableError)):
            content(root, path)

    def test_refuses_links_that_lead_out(self, root: Path) -> None:
        (root / "link").symlink_to(root.parent / "secret")
        (root / "folder").symlink_to(root.parent / "table-2")

        for path in ("link", "folder/secret"):
            with pytest.raises(PathEscapesTableError):
                content(root, path)

    def test_follows_links_that_stay(self, root: Path) -> None:
        (root / "link").symlink_to(root / "day=1")

        assert content(root, "link/a b%.parquet") == b"rows"

    def test_knows_no_end_of_links_in_a_circle(self, root: Path) -> None:
        (root / "circle").symlink_to(root / "circle")

        with pytest.raises(DataFileError):
            content(root, "circle")

    def test_does_not_wait_for_a_pipe(self, root: Path) -> None:
        os.mkfifo(root / "pipe")

        with pytest.raises(DataFileMissingError):
            content(root, "pipe")

    @given(parts=st.lists(PARTS, max_size=6), slash=st.sampled_from(["", "/", "//"]))
    def test_never_reads_another_file(self, root: Path, parts: list[str], slash: str):
        try:
            found = content(root, slash + "/".join(parts))
        except DataFileError:
            return

        assert found == b"rows"
