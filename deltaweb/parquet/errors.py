"""What is wrong with a Parquet file: each error has its facts, a code and a hint.

ParquetError
    FileNotParquetError     the bytes are no Parquet file
    FileEncryptedError      the footer is encrypted
    FooterCorruptError      the footer contradicts itself or is cut
    SchemaCorruptError      the schema's elements are no tree
    ValuesUnreadableError   the rows do not read, or take too much to read
    RowsMissingError        the pages hold other rows than the footer counts
    ParquetUnsupportedError the file may be healthy, and is not read here
    SchemaNotHeldError      another system has no schema for the files
    NoParquetFilesError     a folder has no such files
"""

from collections.abc import Sequence

from deltaweb.errors import DeltawebError


class ParquetError(DeltawebError, code="parquet"):
    """Base of every error about a Parquet file."""

    hint = "Check the program that wrote the file, or write it again."


class FileNotParquetError(ParquetError, code="parquet-not-a-file"):
    reason: str
    message = "This is not a Parquet file: {reason}."
    hint = "Check that the whole file was copied, and that it is a Parquet file."


class FileEncryptedError(ParquetError, code="parquet-encrypted"):
    message = "The footer of this Parquet file is encrypted."
    hint = "Decrypt the file, or write it with a plaintext footer."


class FooterCorruptError(ParquetError, code="parquet-footer-corrupt"):
    reason: str
    message = "The footer of this Parquet file is corrupt: {reason}."


class SchemaCorruptError(ParquetError, code="parquet-schema-corrupt"):
    reason: str
    message = "The schema of this Parquet file is corrupt: {reason}."


class ValuesUnreadableError(ParquetError, code="parquet-values-unreadable"):
    reason: str
    message = "The rows of this Parquet file cannot be read: {reason}."
    hint = (
        "The footer is shown as it is; the pages may be damaged or use a newer "
        "encoding."
    )


class RowsMissingError(ValuesUnreadableError, code="parquet-rows-missing"):
    hint = "Restore the file from a backup, or write it again: its pages are damaged."


class ParquetUnsupportedError(ParquetError, code="parquet-unsupported"):
    """A file, or a column of it, that other programs may read."""

    reason: str
    message = "This server does not read this Parquet file: {reason}."
    hint = (
        "The file may be intact: read it with another program, and write its rows "
        "again."
    )


class SchemaNotHeldError(ParquetError, code="parquet-schema-not-held"):
    system: str
    problems: Sequence[object]
    message = "The files have no common schema in {system}: {_problems}."
    hint = "Leave those files out, or write their columns again with one type."

    @property
    def _problems(self) -> str:
        return "; ".join(map(str, self.problems))


class NoParquetFilesError(ParquetError, code="parquet-no-files"):
    location: str
    message = "No Parquet file is below {location}."
    hint = "Names end with .parquet; those that begin with a dot or _ do not count."
