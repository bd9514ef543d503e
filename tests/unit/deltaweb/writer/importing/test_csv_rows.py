"""Rows of CSV files keep the numbers of their lines."""

from pathlib import Path

import pytest

from deltaweb.writer.importing import csv_rows
from deltaweb.writer.importing.options import TextForm
from deltaweb.writer.importing.source_file import SourceFile, open_here

BLOCK_BYTES = 12  # three rows of a digit, a comma, a letter and a line break


def read(place: Path, *rows: str) -> tuple[dict[int, str], list[int]]:
    """Return the first field of each row by its line, and the lines of broken rows."""
    path = place / "a.csv"
    path.write_text("".join(f"{row}\n" for row in rows))
    found: dict[int, str] = {}
    broken: list[int] = []
    file = SourceFile(str(path), "a.csv", open_here)
    for batch in csv_rows.read_csv(file, TextForm(delimiter=",")):
        lines = batch.lines.tolist()
        found |= dict(zip(lines, batch.columns["n"].to_pylist(), strict=True))
        broken += [value.line for value in batch.broken]
    return found, broken


def test_a_broken_first_row_has_its_line(tmp_path: Path) -> None:
    assert read(tmp_path, "n,m", "1", "2,b", "3,c") == ({3: "2", 4: "3"}, [2])


@pytest.mark.parametrize("broken", [*range(2, 10)])
def test_a_broken_row_of_any_batch_moves_no_line(tmp_path, monkeypatch, broken: int):
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", BLOCK_BYTES)
    rows = ["n,m", *(f"{line},x" for line in range(2, 10))]
    rows[broken - 1] = "x,y,z"

    found, lines = read(tmp_path, *rows)

    assert found == {line: str(line) for line in range(2, 10) if line != broken}
    assert lines == [broken]
