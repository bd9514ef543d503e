"""Only a file that may be damaged is to be restored from a backup."""

import errno

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.scan.data_file import reading
from deltaweb.delta.values.stored_columns import MismatchError
from deltaweb.parquet.errors import (
    FileEncryptedError,
    ParquetUnsupportedError,
    RowsMissingError,
    SchemaCorruptError,
)
from tests.support import cases


@cases(
    "error, code, hint",
    {
        "other types": (
            MismatchError(column="c", reason="it is int64 in the file"),
            "data-file-corrupt",
            "Compare the schema of the file with the table's",
        ),
        "an encoding": (
            ParquetUnsupportedError(reason="it is new"),
            "data-file-unsupported",
            "The file may be intact",
        ),
        "an encrypted file": (
            FileEncryptedError(),
            "data-file-unsupported",
            "The file may be intact",
        ),
        "what pyarrow does not read": (
            pa.ArrowNotImplementedError("not yet"),
            "data-file-unsupported",
            "The file may be intact",
        ),
        "a codec that pyarrow does not have": (
            OSError("LZO is currently not supported by the C++ implementation."),
            "data-file-unsupported",
            "The file may be intact",
        ),
        "a wrong schema": (
            SchemaCorruptError(reason="it is none"),
            "data-file-corrupt",
            "Check the program that wrote the file",
        ),
        "a file without the right to read it": (
            PermissionError(errno.EACCES, "Permission denied"),
            "data-file-corrupt",
            "Check that its storage answers",
        ),
        "a disk that fails": (
            OSError(errno.EIO, "Input/output error"),
            "data-file-corrupt",
            "Check that its storage answers",
        ),
        "a damaged page": (
            OSError("Unexpected end of stream"),
            "data-file-corrupt",
            "Restore the file from a backup",
        ),
        "missing rows": (
            RowsMissingError(reason="5 of 7"),
            "data-file-rows-missing",
            "Restore the file from a backup",
        ),
    },
)
def test_the_hint_fits_the_fault(error: Exception, code: str, hint: str) -> None:
    with pytest.raises(DataFileError) as caught, reading("a.parquet"):
        raise error

    assert caught.value.code == code
    assert caught.value.hint.startswith(hint)
