"""The root of every error whose words people read, and each error by its name.

    from deltaweb.errors import CommitConflictError, VersionNotFoundError

An error stands beside what raises it; here it is found, and its module is loaded with
the first that asks for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final, dataclass_transform

from deltaweb.lazy import names_on_demand
from deltaweb.words import cut

MAX_LISTED_COLUMNS: Final = 20
MAX_COMPARED_COLUMNS: Final = 2_000  # beyond, a spelling is not searched for
MAX_NAME_LENGTH: Final = 80
_WORDS: Final = ("reason", "message", "hint")


@dataclass_transform(kw_only_default=True, eq_default=False)
class DeltawebError(Exception):
    """An error of facts, which are its attributes, and of sentences made of them.

    A subclass annotates its facts, as a dataclass does, and writes its words as
    templates that name facts or properties:

        class LogGapError(DeltaError, code="log-gap"):
            root: str
            version: int
            message = "{root}: commit {version} is missing."
            hint = "Restore that commit from a backup."

    Several values are listed with commas, and a time is in ISO form; `{name:.80r}` is
    the repr of the first 80 characters, `{name:q}` that of a shortened name. Words that
    the constructor is given are used as they are, so that no text from outside is ever
    taken for a template.

    Its constructor takes the facts by name; a type checker knows which.

    Attributes:
        code: Stable kebab-case name; logs, API bodies and tests use it.
        message: One sentence: what, and where.
        reason: Half a sentence, where the message has one that callers use, too.
    """

    code: str = "deltaweb-error"
    message: str = ""
    hint: str = ""
    reason: str = ""

    def __init_subclass__(cls, *, code: str = "") -> None:
        super().__init_subclass__()
        cls.code = code or cls.code

    def __init__(self, **facts: object) -> None:
        self.__dict__.update(facts)
        words = _Facts(self)
        for name in _WORDS:
            if not facts.get(name):
                setattr(self, name, getattr(type(self), name).format_map(words))
        super().__init__(f"{self.message} {self.hint}".strip())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[DeltawebError], args: tuple[Any, ...], facts: dict[str, Any]
) -> DeltawebError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(facts)
    return error


class _Facts:
    """The facts of an error by the names that its templates use."""

    def __init__(self, error: DeltawebError) -> None:
        self._error = error

    def __getitem__(self, name: str) -> "_Fact":
        return _Fact(getattr(self._error, name))


class _Fact:
    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        return repr(self._value)

    def __format__(self, spec: str) -> str:
        match self._value:
            case str(text) if spec == "q":
                return repr(shortened_name(text))
            case str(text) if spec.endswith("r"):
                return repr(format(text, spec[:-1]))
            case datetime() as time if not spec:
                return time.isoformat()
            case Iterable() as values if not isinstance(values, str):
                return ", ".join(values)
            case value:
                return format(value, spec)


# === Names in sentences ===


def column_hint(column: str, columns: Sequence[str]) -> str:
    """Say which columns may be meant by one that is not there, and which there are.

    Of many columns the first are listed, and none where a name is much alike.
    """
    if not columns:
        return "It has no columns."
    by_lower_name = {name.lower(): name for name in columns[:MAX_COMPARED_COLUMNS]}
    close = get_close_matches(column[:MAX_NAME_LENGTH].lower(), by_lower_name, n=3)
    meant = " or ".join(repr(shortened_name(by_lower_name[name])) for name in close)
    question = f"Did you mean {meant}?" if close else ""
    more = len(columns) - MAX_LISTED_COLUMNS
    if close and more > 0:
        return question
    rest = f" and {more:,} more" if more > 0 else ""
    listed = ", ".join(map(shortened_name, columns[:MAX_LISTED_COLUMNS]))
    return f"{question} Its columns are: {listed}{rest}.".strip()


def shortened_name(name: str) -> str:
    """Return a name as a sentence can hold it."""
    return cut(name, MAX_NAME_LENGTH)


# === Each error by its name ===

_PLACES: Final[Mapping[str, str]] = {
    "deltaweb.delta.arguments": "WrongTypeError",
    "deltaweb.delta.changes.errors": (
        "RowDiffKeyError RowDiffTooLargeError VersionFilesMissingError"
    ),
    "deltaweb.delta.deletion_vectors.errors": (
        "DeletionVectorError DeletionVectorMissingError"
    ),
    "deltaweb.delta.errors": (
        "CheckpointCancelledError CheckpointPartsError ColumnNotFoundError "
        "ColumnTypeError CredentialsNeededError DataFileElsewhereError DataFileError "
        "DataFileMissingError DataFileRowsError DataFileUnsupportedError DeltaError "
        "LocationDeniedError LocationError LocationInvalidError "
        "LocationNotAllowedError LocationNotFoundError LocationNotWritableError "
        "LocationUnreachableError LocationUnsupportedError LogCorruptError "
        "LogFileGoneError LogGapError MissingActionError MissingMetadataError "
        "MissingProtocolError "
        "PartitionValueError PathEscapesTableError PredicateError PropertyError "
        "SchemaError SchemaMissingError SchemaTooWideError StorageFullError "
        "TableNotFoundError TimestampInvalidError TimestampNotFoundError "
        "UnknownPropertyError UnsupportedFeatureError UnsupportedProtocolError "
        "UnsupportedWriterError UnsupportedWriterFeatureError VersionError "
        "VersionNotFoundError"
    ),
    "deltaweb.delta.feed.errors": (
        "FeedFileMissingError FeedOffError FeedRangeError FeedSchemaError"
    ),
    "deltaweb.delta.scan.variant_parts": "VariantPartError",
    "deltaweb.delta.snapshot.dataset": "DatasetInexactError",
    "deltaweb.delta.snapshot.frames": "PackageMissingError",
    "deltaweb.delta.values.time_zones.errors": "TimeZoneUnknownError",
    "deltaweb.delta.values.variant_get": "VariantCastError VariantPathError",
    "deltaweb.storage.objects.errors": (
        "BucketNotFoundError ClockSkewedError CredentialsExpiredError KeyUnknownError "
        "RegionWrongError SecretWrongError"
    ),
    "deltaweb.delta.writing.errors": (
        "AppendOnlyError ColumnInUseError CommitConflictError CommitInvalidError "
        "CommitOutcomeUnknownError CommitTimeError CommitTooLargeError "
        "ConstraintNameError ConstraintViolatedError IdentityColumnError "
        "InsideTableError LocationTakenError NewColumnsError PartitionKeysError "
        "ProtocolTooOldError ProtocolUpgradeError RestoreFilesMissingError "
        "RetentionTooShortError SchemaMismatchError SourceColumnsError "
        "StoreNotWritableError TypeNotWidenedError UndoRefusedError "
        "UnsupportedWriteError"
    ),
    "deltaweb.exports.errors": (
        "SheetCellError SheetColumnsError SheetError SheetRowsError"
    ),
    "deltaweb.expressions.errors": (
        "ExpressionError ExpressionMistakenError ExpressionTooLargeError "
        "ExpressionValueError NotOfRowError"
    ),
    "deltaweb.health.thresholds": "HealthThresholdError",
    "deltaweb.index.left_row_groups": "TooManyFootersError",
    "deltaweb.parquet.errors": (
        "FileEncryptedError FileNotParquetError FooterCorruptError "
        "NoParquetFilesError ParquetError ParquetUnsupportedError RowsMissingError "
        "SchemaCorruptError SchemaNotHeldError ValuesUnreadableError"
    ),
    "deltaweb.conditions.json": "MalformedHintError",
    "deltaweb.conditions.sql_text": "NotSQLError",
    "deltaweb.sharing.errors": (
        "BudgetSpentError CredentialsMissingError DirectoryNotOfferedError "
        "EndpointNotFoundError FileCopyError FileGoneError "
        "FileOutsideTableError FileRefusedError FilesVacuumedError "
        "FormatNotOfferedError HistoryNotSharedError MethodNotAllowedError "
        "ParameterInvalidError PlainFilesAwaitedError QueryNotFoundError "
        "QueryTokenEndedError "
        "RangeUnsatisfiableError RequestMalformedError RequestTooLargeError "
        "RuledChangesError SharingError TableMisreadError "
        "TooManyDownloadsError TooManyRequestsError TooManyStreamsError "
        "VersionNotReadyError"
    ),
    "deltaweb.sharing.oauth.errors": (
        "AssertionUsedError ClientRefusedError GrantTypeError IssuerInvalidError "
        "JWTRefusedError KeyInvalidError OAuthRequestError"
    ),
    "deltaweb.sharing.oauth.signed_claims": "UnknownKeyError",
    "deltaweb.iceberg.access.errors": (
        "KeysRefusedError ObjectChangedError ObjectMissingError"
    ),
    "deltaweb.iceberg.errors": (
        "CatalogEndpointNotFoundError CatalogReadOnlyError InexpressibleError "
        "NotIcebergError"
    ),
    "deltaweb.spark.checkpoint": "TaskDiedError",
    "deltaweb.spark.driver.cluster": (
        "ApplicationEndedError ExecutorsUnfitError MasterUnreachableError "
        "MasterUnsupportedError NoExecutorsError SparkClusterError"
    ),
    "deltaweb.spark.driver.installed": "SparkMissingError",
    "deltaweb.spark.driver.java": "JavaNotFoundError",
    "deltaweb.spark.job": "SparkLostError",
    "deltaweb.spark.writing.faults": "ChangeNotEvaluatedError",
    "deltaweb.spark.writing.source.options": "SourceOptionError",
    "deltaweb.spark.writing.source.stream_files": "StreamChangeError",
    "deltaweb.spark.writing.source.stream_reader": "StreamSchemaError",
    "deltaweb.storage.received.errors": (
        "NotSharedError ProfileInvalidError ProviderAnswerError ProviderHostError "
        "ProviderLimitError ProviderRefusedError ProviderRestsError "
        "ProviderSlowError ReceivedTableError RequestRefusedError"
    ),
    "deltaweb.storage.signing.errors": (
        "SigningKeyNeededError SigningUnsupportedError"
    ),
    "deltaweb.storage.objects.vending.errors": (
        "VendingRefusedError VendingUnsupportedError"
    ),
    "deltaweb.storage.signing.file_urls": "FileURLExpiredError FileURLInvalidError",
    "deltaweb.writer.importing.readings": "UnclearReadingError",
    "deltaweb.writer.importing.checked_rows": "RowsNotImportedError",
    "deltaweb.writer.importing.options": "ImportFileError",
    "deltaweb.writer.importing.proposal": "TypedColumnMissingError",
    "deltaweb.writer.making.conversion": "FolderNotConvertibleError",
    "deltaweb.writer.merge.file_merge": "MergeMatchedTwiceError",
}
_MODULES: Final = {
    name: module for module, names in _PLACES.items() for name in names.split()
}
_load: Final = names_on_demand(__name__, _MODULES)


def __getattr__(name: str) -> Any:  # noqa: ANN401  # a class that is not loaded yet
    return _load(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
