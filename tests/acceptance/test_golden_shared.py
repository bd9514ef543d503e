"""Golden tables are offered the same by their index and by their log."""

from pathlib import Path

import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from tests.support.golden.golden_tables import golden_table, some_golden_tables
from tests.support.index.index_builds import build_index


def offered(version: SharedVersion) -> list[str]:
    chosen = version.select()
    if chosen.outside is not None:
        return [chosen.outside]
    return sorted(str(row) for batch in chosen.batches() for row in batch.to_pylist())


@some_golden_tables
def test_an_index_offers_what_the_log_does(name: str, tmp_path: Path) -> None:
    table = golden_table(name)
    build_index(table.root, None, tmp_path / "index")
    try:
        replayed = SharedTableReader().open_version(table, index_folder=None)
    except DeltaError as error:
        with pytest.raises(type(error)):
            SharedTableReader().open_version(table, index_folder=tmp_path / "index")
        return

    indexed = SharedTableReader().open_version(table, index_folder=tmp_path / "index")

    assert indexed.version == replayed.version
    assert indexed.metadata == replayed.metadata
    assert indexed.protocol == replayed.protocol
    assert str(indexed.refusal) == str(replayed.refusal)
    assert indexed.num_files == replayed.num_files
    assert indexed.has_deletion_vectors == replayed.has_deletion_vectors
    if replayed.refusal is None:
        # An index is of a commit, without which it is not asked.
        has_commit = (tmp_path / "index" / "source.json").exists()
        assert indexed.num_files_in_memory == 0 or not has_commit
        assert indexed.size_bytes == replayed.size_bytes
        assert offered(indexed) == offered(replayed)
