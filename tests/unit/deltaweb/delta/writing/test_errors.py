"""Errors of writing say what, where, and what to do next."""

import re
from datetime import date

import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.actions import Protocol
from deltaweb.delta.writing import errors

EXAMPLES: list[DeltaError] = [
    errors.CommitConflictError(
        root="/t",
        version=5,
        kind="file-removed",
        operation="DELETE",
        winning_operation="OPTIMIZE",
        subject="a.parquet",
    ),
    errors.CommitOutcomeUnknownError(
        root="/t", version=5, txn_id="4d7a", reason="TimeoutError"
    ),
    errors.AppendOnlyError(root="/t", version=5, operation="DELETE"),
    errors.UnsupportedWriteError(root="/t", version=5, needs=["a", "b"]),
    errors.CommitInvalidError(root="/t", version=5, reason="a file is added twice"),
    errors.CommitTooLargeError(root="/t", version=5, size_bytes=2, most=1),
    errors.CommitTimeError(root="/t", version=5, before_ms=2**63 - 1),
    errors.LocationTakenError(location="/t"),
    errors.InsideTableError(location="/t/a", outer="/t"),
    errors.StoreNotWritableError(location="ftp://h/t", promise="mutual exclusion"),
    errors.SchemaMismatchError(misfits={"a": "is a string", "b": "is missing"}),
    errors.NewColumnsError(misfits={"a": "is there already"}),
    errors.ConstraintViolatedError(
        name="positive", expression="x > 0", rows=[{"x": -1}], num_rows=1
    ),
    errors.ConstraintNameError(name="positive", names=["a"], is_taken=False),
    errors.ConstraintNameError(name="a", names=[], is_taken=True),
    errors.ProtocolUpgradeError(root="/t", version=5, reason="versions never go down"),
    errors.ProtocolTooOldError(
        root="/t",
        version=5,
        operation="ADD CONSTRAINT",
        now=Protocol(min_reader_version=1, min_writer_version=2),
        then=Protocol(min_reader_version=1, min_writer_version=3),
        features=["checkConstraints"],
    ),
    errors.RetentionTooShortError(hours=1, least=168),
    errors.RestoreFilesMissingError(path="a", version=3, paths=["a"] * 7),
    errors.PartitionKeysError(path="a", column="", columns=["p"]),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_has_two_sentences_and_a_code(error: DeltaError) -> None:
    assert error.message.endswith(".")
    assert error.hint.endswith(".")
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", error.code)
    assert "{" not in error.message.replace('{"x"', "")


def test_five_rows_of_a_violated_constraint_are_shown() -> None:
    error = errors.ConstraintViolatedError(
        name="positive", expression="x > 0", rows=[{"x": -n} for n in range(9)]
    )

    assert '{"x": -4}' in error.message
    assert '{"x": -5}' not in error.message


def test_bytes_of_a_row_are_hexadecimal() -> None:
    error = errors.ConstraintViolatedError(
        name="short", expression="x < 1", rows=[{"x": b"XXXX", "day": date(2026, 1, 2)}]
    )

    assert '{"x": "58585858", "day": "2026-01-02"}' in error.message
