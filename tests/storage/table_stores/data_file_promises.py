"""What every store promises of data files, and of paths to them."""

import pytest

from deltaweb.delta.errors import DataFileMissingError, PathEscapesTableError
from deltaweb.delta.log_store import TableStore


class DataFilePromises:
    """A data file is found by the path that the log has for it."""

    def test_a_path_is_decoded_once(self, store: TableStore) -> None:
        store.put_data_file("p=%2520/a%20b+c.parquet", b"data")

        assert store.has_data_file("p=%2520/a b+c.parquet")
        assert not store.has_data_file("p=%20/a b+c.parquet")
        with store.open_data_file("p=%2520/a%20b%2Bc.parquet") as file:
            assert file.read() == b"data"

    def test_a_data_file_is_never_overwritten(self, store: TableStore) -> None:
        store.put_data_file("a", b"first")

        with pytest.raises(FileExistsError):
            store.put_data_file("a", b"second")

    def test_a_missing_data_file_is_named(self, store: TableStore) -> None:
        with pytest.raises(DataFileMissingError, match="gone%20file"):
            store.open_data_file("gone%20file")

    @pytest.mark.parametrize(
        "path", ["../x", "a/../../x", "%2E%2E/x", "/x", "//x", "other://x/y", "a%00"]
    )
    def test_a_path_out_of_the_table_is_refused(
        self, store: TableStore, path: str
    ) -> None:
        for use in (
            lambda: store.open_data_file(path),
            lambda: store.has_data_file(path),
            lambda: store.put_data_file(path, b""),
        ):
            with pytest.raises(PathEscapesTableError):
                use()

    def test_a_path_that_stays_inside_may_turn(self, store: TableStore) -> None:
        store.put_data_file("a", b"data")

        assert store.has_data_file("./b/../a")
