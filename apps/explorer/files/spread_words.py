"""How the files of a version are spread, in a sentence where a picture shows little."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.overview.selector import BOTH
from apps.explorer.version.listed import Kept, ListedFiles
from apps.tables.index.rows import LAST_MS
from deltaweb.index.files.distribution import SMALLEST_EDGE
from deltaweb.words import counted, size_text

TextOf = Callable[[int], str]

MIN_VALUES: Final = 3  # that a picture tells apart
MAX_KEPT: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadWords:
    """A sentence in place of a picture of few values; empty where a picture is due."""

    sizes: str
    rows: str
    ages: str

    @property
    def sentences(self) -> list[str]:
        """Those that there are."""
        return [text for text in (self.sizes, self.rows, self.ages) if text]


_kept: Kept[SpreadWords] = Kept(MAX_KEPT)


def spread_words(listed: ListedFiles) -> SpreadWords:
    """Return what to say of the files of a version, kept for the next page."""
    return _kept.get(listed.source, lambda: _spread_words(listed.files))


def _spread_words(files: pa.Table) -> SpreadWords:
    records = files["num_records"] if "num_records" in files.column_names else None
    return SpreadWords(
        sizes=_range(files["size"], size_text, smallest=SMALLEST_EDGE)
        or _sentence(files["size"], "{files} {have} {value}", size_text),
        rows=""
        if records is None
        else _range(records, "{:,} rows".format)
        or _sentence(records, "{files} {have} {value}", _rows_text),
        ages=_sentence(
            files["modification_time"], "{files} {were} written {value}", _time_text
        ),
    )


def _range(values: pa.ChunkedArray, text_of: TextOf, smallest: int = 1) -> str:
    """Say between what values lie that a picture would put under one bar."""
    known = values.drop_null()
    if pc.count_distinct(known).as_py() < MIN_VALUES:
        return ""
    low, high = (max(number.as_py(), 0) for number in pc.min_max(known).values())
    if max(low, smallest).bit_length() != max(high, smallest).bit_length():
        return ""
    files = counted(len(known), "file")
    if len(known) == len(values):
        files = "Both files" if len(known) == BOTH else f"All {files}"
    if text_of(low) == text_of(high):
        return f"{files} have about {text_of(low)}."
    return f"{files} have between {text_of(low)} and {text_of(high)}."


def _sentence(values: pa.ChunkedArray, words: str, text_of: TextOf) -> str:
    known = values.drop_null()
    if not len(known) or pc.count_distinct(known).as_py() >= MIN_VALUES:
        return ""
    groups = sorted(known.value_counts().to_pylist(), key=lambda one: one["values"])
    is_all = len(known) == len(values)
    parts = []
    for group in groups:
        count = group["counts"]
        alone = len(groups) == 1 and is_all
        many = "both" if count == BOTH else f"all {count:,}"
        files = f"{many} files" if alone and count > 1 else counted(count, "file")
        parts.append(
            words.format(
                files="the one file" if alone and count == 1 else files,
                have="has" if count == 1 else "have",
                were="was" if count == 1 else "were",
                value=text_of(group["values"]),
            )
        )
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _rows_text(count: int) -> str:
    return counted(count, "row")


def _time_text(time_ms: int) -> str:
    moment = datetime.fromtimestamp(min(max(time_ms, 0), LAST_MS) // 1000, tz=UTC)
    return f"on {moment:%-d %B %Y at %H:%M:%S} UTC"
