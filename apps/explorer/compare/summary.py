"""What a comparison comes to in six numbers."""

from dataclasses import dataclass

from apps.explorer.compare.selector import Comparison
from apps.pages.templatetags.deltaweb import compact, size
from apps.tables.work.diff_files import FileDiff


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One number: `number` with its `unit`, a line below, the exact value as title."""

    label: str
    number: str
    unit: str = ""
    below: str = ""
    title: str = ""


def summary_cards(found: Comparison, facts: FileDiff | None) -> list[Card]:
    """Return the cards; `facts` is what the comparison of files found, if it has."""
    if found.before is None or found.after is None:
        return []
    return [
        _change("Rows", *_rows(found)),
        _files(found, facts),
        _change("Bytes", *_totals(found, facts, "bytes", "size_bytes"), is_size=True),
        _columns(found),
        _settings(found),
        _protocol(found),
    ]


def _rows(found: Comparison) -> tuple[int | None, int | None]:
    sides = (found.before, found.after)
    before, after = (
        side.commit.num_records if side and side.commit else None for side in sides
    )
    return before, after


def _totals(
    found: Comparison, facts: FileDiff | None, name: str, field: str
) -> tuple[int | None, int | None]:
    """Return a total of both versions: by the comparison, else by the commits."""
    if facts:
        return getattr(facts.from_totals, name), getattr(facts.to_totals, name)
    before, after = (
        getattr(side.commit, field) if side and side.commit else None
        for side in (found.before, found.after)
    )
    return before, after


def _change(
    label: str, before: int | None, after: int | None, *, is_size: bool = False
) -> Card:
    shown = size if is_size else compact
    if before is None or after is None:
        return Card(label=label, number="—", below="not known for both versions")
    change = after - before
    number, _, unit = shown(abs(change)).partition(" ")
    same = f"{shown(after)} in both"
    return Card(
        label=label,
        number=f"{_sign(change)}{number}",
        unit=unit,
        below=f"from {shown(before)} to {shown(after)}" if change else same,
        title=f"{before:,} → {after:,}",
    )


def _files(found: Comparison, facts: FileDiff | None) -> Card:
    card = _change("Files", *_totals(found, facts, "files", "num_files"))
    if not facts:
        return card
    parts = [f"{facts.added:,} added", f"{facts.removed:,} removed"]
    if facts.rewritten:
        parts.append(f"{facts.rewritten:,} rewritten")
    return Card(
        label=card.label,
        number=card.number,
        unit=card.unit,
        below=", ".join(parts),
        title=card.title,
    )


def _columns(found: Comparison) -> Card:
    schema = found.schema
    if schema is None:
        return Card(label="Columns", number="—", below="a schema is not known")
    change = len(schema.added) - len(schema.removed)
    kinds = {"added": schema.added, "gone": schema.removed, "changed": schema.changed}
    with_columns = [(kind, columns) for kind, columns in kinds.items() if columns]
    below = ", ".join(
        f"{columns[0].name if len(columns) == 1 else f'{len(columns):,}'} {kind}"
        for kind, columns in with_columns
    )
    if not below:
        below = "in another order" if schema.reordered else "all the same"
    return Card(label="Columns", number=f"{_sign(change)}{abs(change)}", below=below)


def _settings(found: Comparison) -> Card:
    count = found.settings_count
    metadata = found.after.metadata if found.after else None
    total = len(metadata.configuration) if metadata else 0
    many = f"all {total:,} the same" if total > 1 else "the only one is the same"
    same = many if total else "none set"
    names = [
        change.name
        for changes in (found.properties, found.details)
        for change in (*changes.added, *changes.removed, *changes.changed)
    ]
    names += ["partitioning"] if found.partitions else []
    more = f" and {count - 1:,} more" if count > 1 else ""
    below = f"{names[0]}{more}" if names else same
    return Card(label="Properties", number=f"{count:,}", below=below)


def _protocol(found: Comparison) -> Card:
    protocol = found.after.protocol if found.after else None
    below = "not known"
    if protocol is not None:
        versions = (protocol.min_reader_version, protocol.min_writer_version)
        below = "reader {}, writer {}".format(*versions)
    return Card(label="Protocol", number=f"{found.protocol.count:,}", below=below)


def _sign(change: int) -> str:
    return "+" if change > 0 else "−" if change < 0 else ""
