"""Pages of a version are together its one answer, whoever reads which of them."""

import random
import shutil
from itertools import product
from pathlib import Path

import pytest

from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.index.query.file_pages import (
    FilePage,
    PagePlace,
    Wanted,
    first_place,
    page_of,
)
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from tests.support import by_turns, matrix
from tests.support.logs.local_logs import RandomLog
from tests.support.pages.shared_tables import CONDITIONS, hint, paths

pytestmark = pytest.mark.slow


def names(page: FilePage) -> list[str]:
    return [
        path for batch in page.selection.batches() for path in batch["path"].to_pylist()
    ]


def read_pages(version, wanted, max_files):
    """Read all pages of a version, each of another length."""
    place: PagePlace | None = first_place(version)
    limit, found = wanted.limit, []
    while place is not None:
        asked = Wanted(
            predicates=wanted.predicates,
            limit=limit,
            max_files=max_files.randint(1, 9),
        )
        page = page_of(version, place, asked)
        found.append(names(page))
        assert len(found[-1]) <= (asked.max_files or 0)
        assert found[-1] or page.next_place is None
        place, limit = page.next_place, page.limit
    return found


def opened(log: RandomLog, index: Path | None) -> SharedVersion:
    return SharedTableReader().open_version(log.table, index_folder=index)


class TestPages:
    @matrix(
        "seed, is_indexed",
        product(range(8), [True, False]),
        often=[(seed, seed % 2 == 0) for seed in range(6)],
    )
    def test_are_together_the_one_answer(self, tmp_path, seed, *, is_indexed):
        log = RandomLog(tmp_path, seed)
        log.grow(seed % 5)
        index = log.index()
        log.grow(seed % 4)
        version = opened(log, index if is_indexed else None)

        for text in [None, *CONDITIONS]:
            predicates = [] if text is None else [hint(text, version.schema)]
            pages = read_pages(
                version, Wanted(predicates=predicates), random.Random(seed)
            )
            found = [path for page in pages for path in page]
            assert sorted(found) == paths(version, predicates), text
            assert len(set(found)) == len(found)

    @by_turns({"seed": range(4), "limit": [0, 1, 25, 10_000]})
    def test_bring_the_rows_of_a_limit(self, tmp_path, seed, limit):
        log = RandomLog(tmp_path, seed)
        log.grow(3)
        version = opened(log, None)

        pages = read_pages(version, Wanted(limit=limit), random.Random(seed))

        found = [path for page in pages for path in page]
        batches = version.select().batches()
        rows = {row["path"]: row for batch in batches for row in batch.to_pylist()}
        brought = sum(rows[path]["num_records"] or 0 for path in found)
        assert brought >= limit or len(found) == len(rows)
        assert limit or not found
        assert len(set(found)) == len(found)

    @pytest.mark.parametrize("seed", range(4))
    def test_are_alike_for_a_process_that_comes_later(self, tmp_path, seed):
        """The first page is of one process, the others of one with a newer index."""
        log = RandomLog(tmp_path, seed)
        index = log.index("old")
        log.grow(seed % 3)
        version = opened(log, index)
        whole = paths(version)
        first = page_of(version, first_place(version), Wanted(max_files=7))
        assert first.next_place is not None
        log.grow(3)
        newer = log.index("new")

        later = SharedTableReader()
        later.open_version(log.table, index_folder=newer)
        again = later.open_page(
            log.table, index_folder=newer, ordered_by=index, version=version.version
        )
        rest = page_of(again, first.next_place, Wanted())

        assert sorted([*names(first), *names(rest)]) == whole

    @pytest.mark.parametrize("seed", range(4))
    def test_of_a_table_without_an_index_fit_when_it_has_one(self, tmp_path, seed):
        log = RandomLog(tmp_path, seed)
        log.grow(2)
        version = opened(log, None)
        first = page_of(version, first_place(version), Wanted(max_files=7))
        assert first.next_place is not None
        index = log.index()
        reader = SharedTableReader()

        again = reader.open_page(
            log.table, index_folder=index, ordered_by=None, version=version.version
        )
        rest = page_of(again, first.next_place, Wanted())

        assert sorted([*names(first), *names(rest)]) == paths(version)

    def test_of_an_index_that_is_gone_are_refused(self, tmp_path: Path) -> None:
        log = RandomLog(tmp_path, 1)
        index = log.index("old")
        version = opened(log, index).version
        log.grow(1)
        shutil.rmtree(index)

        with pytest.raises(IndexMissingError):
            SharedTableReader().open_page(
                log.table, index_folder=None, ordered_by=index, version=version
            )

    def test_go_on_in_a_process_that_has_the_index_that_is_gone(self, tmp_path: Path):
        log, reader = RandomLog(tmp_path, 1), SharedTableReader()
        index = log.index("old")
        version = reader.open_version(log.table, index_folder=index)
        log.grow(1)
        newer = log.index("new")
        reader.open_version(log.table, index_folder=newer)
        shutil.rmtree(index)

        again = reader.open_page(
            log.table, index_folder=newer, ordered_by=index, version=version.version
        )

        assert again is version
