"""The short form of `python -m tests.benchmarks parquet`: 100,000 of each kind."""

import os
import signal
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.parquet import preview
from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.values.reading import read_rows
from tests.support.files import mutated_pages
from tests.support.files.mutated_footers import judge, mutated_files, seed_files
from tests.support.files.mutated_pages import judge_pages

pytestmark = pytest.mark.slow

ROUNDS = 2_000
SLOWEST_S = 2.0
PAGE_ROUNDS = 200


def test_changed_footers_are_read_or_are_clean_errors() -> None:
    verdict = judge(mutated_files(seed_files(), seed=7, count=ROUNDS))

    assert verdict.faults == []
    assert verdict.read + verdict.refused == ROUNDS
    assert verdict.read > ROUNDS // 50
    assert verdict.refused > ROUNDS // 50
    assert verdict.slowest_s < SLOWEST_S


@pytest.mark.parametrize("seed", range(4))
def test_rows_by_a_changed_footer_are_read_or_are_a_clean_error(tmp_path, seed):
    (file,) = mutated_files(seed_files(), seed=seed, count=1)
    path = tmp_path / "a.parquet"
    path.write_bytes(file)

    try:
        rows = preview(path, 3)
    except ParquetError:
        return
    assert len(rows) <= 3


def test_rows_of_changed_pages_are_read_or_are_clean_errors() -> None:
    verdict = judge_pages(seed=7, count=PAGE_ROUNDS)

    assert verdict.faults == []
    assert "hung" not in verdict.ended
    assert verdict.read > PAGE_ROUNDS // 20
    assert verdict.refused > PAGE_ROUNDS // 20


def test_pages_that_nobody_changed_are_read(tmp_path: Path) -> None:
    for number, file in enumerate(mutated_pages.seed_files()):
        path = tmp_path / f"{number}.parquet"
        path.write_bytes(file)
        assert len(read_rows(pa.OSFile(str(path)), 5)) == 5


def test_a_reader_of_many_files_tells_how_it_has_ended() -> None:
    bomb, good = b"not what a child expects", mutated_pages.seed_files()[0]
    reader = mutated_pages.Reader()

    try:
        said = [reader.read(file) for file in (good, bomb)]
    finally:  # a child that lives holds open what other processes wait for the end of
        os.kill(reader.child, signal.SIGKILL)
    said.append(reader.read(good))

    assert reader.end() == "SIGKILL"
    assert said == [mutated_pages.READ, mutated_pages.REFUSED, b""]
