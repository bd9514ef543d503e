import re
from datetime import UTC, datetime

import pytest

from deltaweb.delta import errors
from deltaweb.delta.errors import DeltaError

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
EXAMPLES: list[DeltaError] = [
    errors.LocationInvalidError(location="x", reason="it is empty"),
    errors.LocationNotFoundError(location="/t"),
    errors.LocationDeniedError(location="/t"),
    errors.LocationNotAllowedError(location="/t", allowed=["/lake"]),
    errors.CredentialsNeededError(location="s3://b/t"),
    errors.LocationUnreachableError(location="s3://b/t", reason="TimeoutError"),
    errors.LocationUnsupportedError(location="s3://b/t", scheme="s3", package="s3fs"),
    errors.TableNotFoundError(root="/t"),
    errors.VersionNotFoundError(root="/t", version=7, earliest=0, latest=5),
    errors.TimestampNotFoundError(root="/t", timestamp=NOW, earliest=NOW, latest=NOW),
    errors.TimestampInvalidError(text="noon"),
    errors.LogGapError(root="/t", version=5, missing_version=3),
    errors.LogCorruptError(path="/t/_delta_log/0.json", reason="a line is not JSON"),
    errors.LogFileGoneError(path="/t/_delta_log/0.json", reason="it disappeared"),
    errors.MissingMetadataError(root="/t", version=5),
    errors.MissingProtocolError(root="/t", version=5),
    errors.UnsupportedProtocolError(
        root="/t", version=5, min_reader_version=4, supported=3
    ),
    errors.UnsupportedFeatureError(root="/t", version=5, features=["a", "b"]),
    errors.UnsupportedWriterError(
        root="/t",
        version=5,
        min_writer_version=8,
        supported=7,
        operation="no checkpoint",
    ),
    errors.UnsupportedWriterFeatureError(
        root="/t", version=5, features=["a"], operation="no checkpoint"
    ),
    errors.CheckpointCancelledError(root="/t", version=5),
    errors.CheckpointPartsError(root="/t", version=5, parts=2),
    errors.LocationNotWritableError(location="/t", reason="it is read-only"),
    errors.StorageFullError(location="/t", reason="No space left on device"),
    errors.SchemaError(column="a.b", reason="its type is unknown"),
    errors.SchemaMissingError(root="/t", version=5),
    errors.SchemaTooWideError(num_columns=20_000, num_fields=20_000, most=10_000),
    errors.PropertyError(name="delta.x", value="y", expected="a number"),
    errors.UnknownPropertyError(name="delta.x", value="y", meant="delta.y"),
    errors.PartitionValueError(
        column="p", value="x", type_name="date", path="a.parquet"
    ),
    errors.PredicateError(reason="it is empty"),
    errors.ColumnTypeError(column="a", type_name="interval day to second"),
    errors.ColumnNotFoundError(column="x", columns=["a"]),
    errors.DataFileError(path="a.parquet", reason="it is torn"),
    errors.DataFileMissingError(path="a.parquet"),
    errors.DataFileElsewhereError(path="/lake/other/a.parquet"),
    errors.DataFileRowsError(path="a.parquet", reason="it has 3 rows, the log says 4"),
    errors.DataFileUnsupportedError(path="a.parquet", reason="it is of tomorrow"),
    errors.PathEscapesTableError(path="../a"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
class TestEveryError:
    def test_has_a_code_a_sentence_and_a_hint(self, error: DeltaError) -> None:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", error.code)
        assert error.message.endswith(".")
        assert error.hint.endswith(".")
        assert str(error) == f"{error.message} {error.hint}"

    def test_is_named_in_the_tree_of_the_module(self, error: DeltaError) -> None:
        named = errors.__doc__ or ""
        bases = [base.__name__ for base in type(error).__mro__[:2]]

        assert any(name in named for name in bases)


def test_every_error_has_an_example() -> None:
    raised = {type(error) for error in EXAMPLES}
    bases = {base for kind in raised for base in kind.__mro__}
    declared = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, DeltaError)
    }

    assert declared <= bases


def test_the_base_writes_what_it_is_given() -> None:
    error = DeltaError(message="It broke.", hint="Mend it.")

    assert (error.message, error.hint, error.code) == (
        "It broke.",
        "Mend it.",
        "delta-error",
    )


def test_what_a_log_says_leaves_an_error_a_sentence() -> None:
    many = [f"column_{number}" for number in range(300_000)]
    long = "x" * 10_000_000
    for error in (
        errors.PartitionValueError(column="p", value=long, type_name="date", path=long),
        errors.SchemaError(column=long, reason="its type is unknown"),
        errors.ColumnNotFoundError(column="x", columns=many),
        errors.ColumnNotFoundError(column=long, columns=[long]),
    ):
        assert len(str(error)) < 2_000
