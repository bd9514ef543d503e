"""Properties of a table that are needed here, parsed.

Source: delta_protocol.md, "Add File and Remove File" (expiry of tombstones) and
"Checkpoint Format" (statistics of checkpoints).
"""

import re
from collections.abc import Mapping
from typing import Final

from deltaweb.delta.errors import PropertyError

PREFIX: Final = "delta."
CONSTRAINT_PREFIX: Final = f"{PREFIX}constraints."
DELETED_FILE_RETENTION: Final = "delta.deletedFileRetentionDuration"
DEFAULT_RETENTION: Final = "interval 1 week"
LOG_RETENTION: Final = "delta.logRetentionDuration"
DEFAULT_LOG_RETENTION: Final = "interval 30 days"
CHECKPOINT_POLICY: Final = "delta.checkpointPolicy"
COMPRESSION: Final = "delta.parquet.compression.codec"
INDEXED_COLUMNS: Final = "delta.dataSkippingNumIndexedCols"
STATISTICS_COLUMNS: Final = "delta.dataSkippingStatsColumns"
STRING_PREFIX: Final = "delta.dataSkippingStringPrefixLength"
DEFAULT_STRING_PREFIX: Final = 32
LENGTH_WORDS: Final = "a number from 0"
TARGET_FILE_SIZE: Final = "delta.targetFileSize"
DEFAULT_FILE_BYTES: Final = 128 << 20
DEFAULT_CODEC: Final = "snappy"
CODECS: Final[Mapping[str, str]] = {
    "brotli": "brotli",
    "gzip": "gzip",
    "lz4": "lz4",
    "lz4_raw": "lz4",
    "none": "none",
    "snappy": "snappy",
    "uncompressed": "none",
    "zstd": "zstd",
}
"""What Arrow calls the codecs of data files that are written here."""
CODEC_WORDS: Final = "uncompressed, snappy, gzip, brotli, lz4 or zstd"
STATS_AS_JSON: Final = "delta.checkpoint.writeStatsAsJson"
STATS_AS_STRUCT: Final = "delta.checkpoint.writeStatsAsStruct"

_US_PER_UNIT: Final = {
    "week": 7 * 86_400_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_US_PER_MS: Final = 1_000
_INTERVAL = re.compile(
    r"\s*(?:interval\s+)?((?:\d{1,15}(?:\.\d{1,9})?\s+[a-z]+\s*)+)",
    re.ASCII | re.IGNORECASE,
)
_BYTES = re.compile(
    r"\s*(\d{1,15})\s*(|b|kb?|mb?|gb?|tb?)\s*", re.ASCII | re.IGNORECASE
)
_BYTE_SHIFTS: Final = {"": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_TERM = re.compile(r"(\d+)(\.\d+)?\s+([a-z]+)", re.ASCII | re.IGNORECASE)


def deleted_file_retention_ms(configuration: Mapping[str, str]) -> int:
    """Return how long a tombstone is kept, in milliseconds."""
    return _interval_ms(configuration, DELETED_FILE_RETENTION, DEFAULT_RETENTION)


def target_file_bytes(configuration: Mapping[str, str]) -> int:
    """Return about how large a data file is to be."""
    text = configuration.get(TARGET_FILE_SIZE)
    if text is None:
        return DEFAULT_FILE_BYTES
    size = parse_bytes(text)
    if not size:
        expected = "a size such as 128mb"
        raise PropertyError(name=TARGET_FILE_SIZE, value=text, expected=expected)
    return size


def string_prefix_length(configuration: Mapping[str, str]) -> int:
    """Return how many characters the statistics of new files keep of a text."""
    text = configuration.get(STRING_PREFIX, str(DEFAULT_STRING_PREFIX)).strip()
    if not is_length(text):
        raise PropertyError(name=STRING_PREFIX, value=text, expected=LENGTH_WORDS)
    return int(text)


def is_length(text: str) -> bool:
    """Return whether a text is a whole number from 0."""
    return re.fullmatch(r"[0-9]{1,9}", text) is not None


def data_file_codec(configuration: Mapping[str, str]) -> str:
    """Return what Arrow calls the codec of new data files."""
    text = configuration.get(COMPRESSION, DEFAULT_CODEC)
    if not is_codec(text):
        raise PropertyError(name=COMPRESSION, value=text, expected=CODEC_WORDS)
    return CODECS[text.strip().lower()]


def is_codec(text: str) -> bool:
    """Tell whether data files of a codec are written here."""
    return text.strip().lower() in CODECS


def log_retention_ms(configuration: Mapping[str, str]) -> int:
    """Return how long the history of a log is kept, in milliseconds."""
    return _interval_ms(configuration, LOG_RETENTION, DEFAULT_LOG_RETENTION)


def writes_stats_as_json(configuration: Mapping[str, str]) -> bool:
    """Tell whether checkpoints hold statistics as JSON: the default."""
    return _boolean(configuration, STATS_AS_JSON, default=True)


def writes_stats_as_struct(configuration: Mapping[str, str]) -> bool:
    """Tell whether checkpoints hold statistics and partition values with types."""
    return _boolean(configuration, STATS_AS_STRUCT, default=False)


def _boolean(configuration: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = configuration.get(name, str(default)).strip().lower()
    if text not in {"true", "false"}:
        raise PropertyError(name=name, value=text, expected="true or false")
    return text == "true"


def _interval_ms(configuration: Mapping[str, str], name: str, default: str) -> int:
    text = configuration.get(name, default)
    duration_ms = parse_interval_ms(text)
    if duration_ms is None:
        raise PropertyError(
            name=name,
            value=text,
            expected="an interval such as 'interval 7 days'",
        )
    return duration_ms


def parse_interval_ms(text: str) -> int | None:
    """Return the length of an interval in milliseconds, None when it has none.

    `interval 1 week`, `2 days 3 hours`; months and years have no fixed length. Seconds
    alone may have a fraction. What is left below a millisecond is dropped.
    """
    match = _INTERVAL.fullmatch(text)
    if match is None:
        return None
    total_us = 0
    for count, fraction, written in _TERM.findall(match[1]):
        unit = written.lower().removesuffix("s")
        unit_us = _US_PER_UNIT.get(unit)
        if unit_us is None or (fraction and unit != "second"):
            return None
        micros = fraction[1:7].ljust(6, "0") if fraction else "0"
        total_us += int(count) * unit_us + int(micros)
    return total_us // _US_PER_MS


def parse_bytes(text: str) -> int | None:
    """Return a size in bytes, as of `1024`, `128mb` or `1 GB`; None for other texts."""
    match = _BYTES.fullmatch(text)
    if match is None:
        return None
    return int(match[1]) << _BYTE_SHIFTS[match[2].lower()[:1]]
