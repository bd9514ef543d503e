"""Deletion vectors as Puffin files."""

import numpy as np
import pytest
from pyiceberg.table.deletion_vector import deletion_vectors_from_puffin_file
from pyiceberg.table.puffin import PuffinFile

from deltaweb.delta.deletion_vectors.descriptor import DeletionVector
from deltaweb.delta.deletion_vectors.writing import write_bitmap
from deltaweb.iceberg.puffin import PuffinVector

LOCATION = "s3://iceberg/t/x/data/ü.parquet"


@pytest.mark.parametrize("deleted", [[0], [5, 6, 7, 70_000], list(range(0, 9000, 2))])
def test_pyiceberg_reads_the_rows_that_were_deleted(deleted: list[int]) -> None:
    marks = np.zeros(80_000, np.bool_)
    marks[deleted] = True
    bitmap = write_bitmap(marks)
    vector = DeletionVector("u", "x" * 20, 1, len(bitmap), len(deleted))
    puffin = PuffinVector(vector, LOCATION)

    file = puffin.file(bitmap)

    assert len(file) == puffin.size_bytes
    (read,) = deletion_vectors_from_puffin_file(PuffinFile(file))
    assert read.referenced_data_file == LOCATION
    assert read.to_vector().to_pylist() == deleted
