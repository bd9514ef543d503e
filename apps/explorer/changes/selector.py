"""What a page of changes shows: a job's counts of versions, and its rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

import pyarrow as pa

from apps.explorer.changes.form import NO_KEY, ChangeQuery
from apps.explorer.changes.span import ChangeSpan
from apps.explorer.columns.key import MAX_KEYS, KeySuggestion, table_key
from apps.explorer.rows.filters import row_filter
from apps.explorer.version.table_version import TableVersion
from apps.pages.request.parameters import QueryError
from apps.pages.request.server_paths import place_for_code
from apps.pages.snippets import Snippet, python_text, variable
from apps.tables.models import Commit, Table
from apps.tables.work.changes import ChangesRead, ReadChanges
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.column_mapping import MAPPING_MODE
from deltaweb.delta.protocol.column_path import split_names
from deltaweb.delta.protocol.schema import StructType, read_columns
from deltaweb.words import counted

MAX_VERSIONS: Final = 12  # of the counts that a page lists, the newest
MAX_LISTED: Final = 1_000  # of the counts in the JSON form
MAX_CHOICES: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePlan:
    """What is asked of the job: columns are those that the table has."""

    asked: ReadChanges
    key: tuple[str, ...]
    suggestion: KeySuggestion | None
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionCounts:
    """How a version changed the table; shares are of the largest, in percent."""

    version: int
    commit: Commit | None
    inserted: int
    updated: int
    deleted: int
    num_files: int
    size_bytes: int
    from_change_files: bool
    most: int

    @property
    def bars(self) -> list[tuple[str, float, float, str]]:
        """Class, place and width in percent, and words, of each part of its bar."""
        found, x = [], 0.0
        parts = (
            ("ins", self.inserted, "inserted"),
            ("upd", self.updated, "updated"),
            ("del", self.deleted, "deleted"),
        )
        for name, count, word in parts:
            if count:
                width = max(0.8, 100 * count / self.most)
                width = min(width, 100 - x)
                found.append((name, round(x, 2), round(width, 2), f"{count:,} {word}"))
                x += width
        return found

    @property
    def source(self) -> str:
        """What tells of its changes, in words."""
        word = "change file" if self.from_change_files else "data file"
        return counted(self.num_files, word)

    def describe(self) -> dict[str, object]:
        """Return it as the JSON form shows it."""
        return {
            "version": self.version,
            "inserted": self.inserted,
            "updated": self.updated,
            "deleted": self.deleted,
            "files": self.num_files,
            "bytes": self.size_bytes,
            "from_change_files": self.from_change_files,
        }


def change_plan(
    at: TableVersion, span: ChangeSpan, query: ChangeQuery, zone: tzinfo
) -> ChangePlan:
    """Return what to ask of a job."""
    schema = _shown_schema(at.table, span.last)
    names = tuple(schema.names)
    suggestion = table_key(at.table, names, after=span.first - 1, up_to=span.last)
    if query.key is None:
        key = suggestion.columns if suggestion else ()
    else:
        key = _key(query.key, names)
    predicate = ""
    if query.value:
        if not key:
            raise QueryError(part="is", expected="key columns by `by` as well")
        predicate = row_filter(schema, f"{key[0]}:eq:{query.value}", zone).sql
    if query.changed and (query.changed not in names or not key):
        expected = "a column of the table" if key else "key columns by `by` as well"
        raise QueryError(part="changed", expected=expected)
    asked = ReadChanges(
        from_=span.first,
        to=span.last,
        key=key,
        kinds=query.kinds,
        changed=query.changed,
        predicate=predicate,
    )
    return ChangePlan(asked=asked, key=key, suggestion=suggestion, columns=names)


def _key(text: str, names: Sequence[str]) -> tuple[str, ...]:
    if text == NO_KEY and text not in names:
        return ()
    parts = [text] if text in names else split_names(text)
    key = tuple(dict.fromkeys(parts))
    unknown = [name for name in key if name not in names]
    if unknown or len(key) > MAX_KEYS:
        named = repr(unknown[0][:80]) if unknown else f"more than {MAX_KEYS}"
        raise QueryError(part="by", expected=f"columns of the table, not {named}")
    return key


def _shown_schema(table: Table, last: int) -> StructType:
    """Return the columns in which a feed is shown that ends at a version."""
    metadata = table.metadata_versions.filter(version__lte=last).first()
    newest = table.metadata_versions.first()
    if metadata is None or newest is None:
        reason = "the log does not say"
        raise SchemaError(column="", reason=reason)
    modes = [(one.configuration or {}).get(MAPPING_MODE) for one in (metadata, newest)]
    is_mapped = any(mode not in {None, "none"} for mode in modes)
    return read_columns((metadata if is_mapped else newest).schema())


def version_counts(
    table: Table, counts: pa.Table, *, limit: int
) -> tuple[list[VersionCounts], dict[int, Commit]]:
    """Return the counts of the newest versions with changes, and their commits."""
    with_files = counts.filter(pa.array(counts["num_files"].to_numpy() > 0))
    newest = with_files.slice(max(0, with_files.num_rows - limit)).to_pylist()[::-1]
    commits = commits_of(table, [row["version"] for row in newest])
    kinds = ("inserted", "updated", "deleted")
    most = max((sum(row[kind] for kind in kinds) for row in newest), default=1)
    found = [
        VersionCounts(
            version=row["version"],
            commit=commits.get(row["version"]),
            **{kind: row[kind] for kind in kinds},
            num_files=row["num_files"],
            size_bytes=row["size"],
            from_change_files=row["from_change_files"],
            most=max(most, 1),
        )
        for row in newest
    ]
    return found, commits


def commits_of(table: Table, versions: Sequence[int]) -> dict[int, Commit]:
    """Return commits by version, without what may be long."""
    commits = table.commits.filter(version__in=versions)
    return {one.version: one for one in commits.defer("parameters", "metrics")}


def snippets(at: TableVersion, span: ChangeSpan) -> list[Snippet]:
    """Return the code that reads the range elsewhere."""
    table, first, last = at.table, span.first, span.last
    location = place_for_code(table.location)
    name, place = variable(table.name), python_text(location)
    quoted = f"delta.`{location.replace('`', '``')}`"
    return [
        Snippet(
            key="python",
            label="Python",
            text=(
                "from deltaweb import DeltaTable\n\n"
                f"{name} = DeltaTable(\n    {place})\n"
                f"feed = {name}.changes({first}, {last})\n"
                "rows = feed.read_all()"
            ),
        ),
        Snippet(
            key="spark",
            label="Spark",
            text=(
                'df = (spark.read.format("delta")\n'
                '  .option("readChangeFeed", "true")\n'
                f'  .option("startingVersion", {first})\n'
                f'  .option("endingVersion", {last})\n'
                f"  .load({place}))"
            ),
        ),
        Snippet(
            key="sql",
            label="SQL",
            text=(
                "SELECT *\n"
                f"FROM table_changes({python_text(quoted)},\n  {first}, {last})"
            ),
        ),
        Snippet(
            key="cli",
            label="Command line",
            text=(
                f"deltaweb table changes {table.full_name} \\\n"
                f"  --from {first} --to {last}"
            ),
        ),
    ]


def sources(versions: Sequence[VersionCounts]) -> Mapping[str, int]:
    """Count versions by what tells of their changes."""
    of_files = sum(one.from_change_files for one in versions)
    return {"change_files": of_files, "data_files": len(versions) - of_files}


def choices(plan: ChangePlan, facts: ChangesRead) -> Iterator[tuple[str, str]]:
    """Yield the columns that an update may have changed, and what says how often."""
    changed = facts.changed_cells
    named = sorted(plan.columns, key=lambda name: -changed.get(name, 0))
    for name in named[:MAX_CHOICES]:
        count = changed.get(name, 0)
        yield name, counted(count, "update") if count else ""
