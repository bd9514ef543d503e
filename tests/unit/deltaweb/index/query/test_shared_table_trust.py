"""An index that is missing, old, or damaged changes no answer."""

import json
import shutil
from pathlib import Path

import pyarrow as pa

from deltaweb.index.files.source import SOURCE
from deltaweb.index.folder.file_index import FILES
from deltaweb.index.query.shared_table import SharedTableReader
from tests.support import cases
from tests.support.logs.delta_logs import add, deletion_vector, remove
from tests.support.logs.local_logs import LocalLog
from tests.support.pages.shared_tables import is_mapped, paths


class TestIndexThatIsNotTrusted:
    @cases(
        "harm",
        {
            "an older form": lambda at: (at / SOURCE).unlink(),
            "gone": shutil.rmtree,
            "no object": lambda at: (at / SOURCE).write_text("[]"),
            "a form to come": lambda at: _set(at, form=99),
            "no protocol": lambda at: _set(at, protocol={}),
            "other rows": lambda at: _set(at, num_files=7),
            "no version": lambda at: _set(at, version="x"),
            "no files": lambda at: (at / FILES).unlink(),
            "cut at its end": lambda at: _cut(at / FILES, 100),
            "empty": lambda at: _cut(at / FILES, None),
            "noise": lambda at: (at / FILES).write_bytes(b"x" * 999),
            "a column is missing": lambda at: _drop(at, "stats"),
            "bounds are missing": lambda at: _drop(at, "min"),
        },
    )
    def test_is_passed_over_for_the_log(self, log, harm):
        index = log.index()
        harm(index)

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert not is_mapped(opened)
        assert paths(opened) == ["p=1/a", "p=1/b", "p=2/c"]

    def test_holds_the_deletion_vectors_of_files(self, tmp_path: Path) -> None:
        vector = deletion_vector("x", 1)
        log = LocalLog(tmp_path).start(add("a", deletionVector=vector), add("b"))
        index = log.index()

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert is_mapped(opened)
        assert opened.has_deletion_vectors
        log.commit(1, add("a"), remove("a", deletionVector=vector))
        opened = SharedTableReader().open_version(log.table, index_folder=index)
        assert not opened.has_deletion_vectors
        assert paths(opened) == ["a", "b"]

    def test_a_deletion_vector_that_comes_later_is_seen(self, log: LocalLog) -> None:
        index = log.index()
        vector = deletion_vector("x")
        log.commit(1, add("p=1/a", deletionVector=vector), remove("p=1/a"))
        reader = SharedTableReader()

        opened = reader.open_version(log.table, index_folder=index)
        assert opened.has_deletion_vectors

        log.commit(2, remove("p=1/a", deletionVector=vector))
        opened = reader.open_version(log.table, index_folder=index)
        assert not opened.has_deletion_vectors


def _set(folder: Path, **values: object) -> None:
    source = json.loads((folder / SOURCE).read_text())
    (folder / SOURCE).write_text(json.dumps({**source, **values}))


def _cut(path: Path, count: int | None) -> None:
    path.write_bytes(path.read_bytes()[: -count if count else 0])


def _drop(folder: Path, name: str) -> None:
    with pa.OSFile(str(folder / FILES)) as source:
        table = pa.ipc.open_file(source).read_all()
    with pa.ipc.new_file(str(folder / FILES), table.drop([name]).schema) as writer:
        writer.write_table(table.drop([name]))
    _set(folder, files_bytes=(folder / FILES).stat().st_size)
