"""The rows in backups, and backups with other rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Final, TypeAlias

from deltaweb.management.backups.lines import LineReader, LineWriter, Row

WORDS: Final = {"DELTAWEB_BACKUP_PASSPHRASE": "four words of mine"}
EMPTY: Final = ["accounts.user_groups", "accounts.user_user_permissions"]
"""The models of which the recorded database has no row: Django's own."""
CHANGED: Final = {
    "accounts.addresslink": None,
    "accounts.signinlink": None,
    "jobs.job": {
        *("state", "finished_at", "lease_owner", "lease_expires_at"),
        *("error_code", "error", "error_hint"),
    },
    "notices.eventsequence": {"epoch", "former"},
    "operate.switch": {"is_off", "sentence", "changed_at", "changed_by"},
    "sharing.activationlink": {"withdrawn_at"},
    "tables.repeatedoperation": {"due_at"},
    "tables.storageconnection": {"sealed"},
}
"""The columns that a restore changes; None if it removes rows."""
ADDED: Final = {
    "accounts.user": "id",
    "audit.auditevent": "id",
    "operate.restoration": "id",
    "operate.switch": "name",
}
"""The models to which a restore, or the test after it, adds rows, and their keys."""

Rows: TypeAlias = dict[str, list[dict[str, object]]]
Model: TypeAlias = tuple[str, list[str], list[Row]]
"""A label, the names of its columns, and its rows."""


def new_home(folder: Path) -> Path:
    folder.mkdir(mode=0o700)
    return folder


def rows_of(file: Path) -> Rows:
    """Return the rows of a backup by model."""
    return {
        label: [dict(zip(names, row, strict=True)) for row in rows]
        for label, names, rows in _reader(file).models()
    }


def kept_rows(found: Rows, *, also_in: Rows | None = None) -> Rows:
    """Return the columns that a restore keeps, of each model.

    Args:
        also_in: Rows of before; those that were added since are left out.
    """
    kept: Rows = {}
    for label, rows in found.items():
        changed = CHANGED.get(label, set())
        if changed is None:
            continue
        old = rows if also_in is None or label not in ADDED else also_in[label]
        key = ADDED.get(label)
        kept_keys = None if key is None else {row[key] for row in old}
        kept[label] = [
            {name: value for name, value in row.items() if name not in changed}
            for row in rows
            if key is None or kept_keys is None or row[key] in kept_keys
        ]
    return kept


def rewrite(
    file: Path,
    *,
    head: Mapping[str, object] | None = None,
    migration: Sequence[str] | None = None,
    change: Callable[[Model], Model] = lambda model: model,
) -> None:
    """Write a plain backup again, with other contents and a right digest.

    Args:
        head: What its first line says otherwise.
        migration: One that it has besides.
        change: Returns what stands in place of a model.
    """
    lines = _reader(file)
    first = {**asdict(lines.head), **(head or {})}
    first["migrations"] = [*lines.head.migrations, *([migration] if migration else [])]
    target = BytesIO()
    writer = LineWriter(target, None)
    writer.put(first)
    for label, names, rows in lines.models():
        label, names, changed = change((label, names, [*rows]))  # noqa: PLW2901
        writer.begin(label, names)
        for row in changed:
            writer.row(row)
    writer.close()
    file.write_bytes(target.getvalue())


def _reader(file: Path) -> LineReader:
    data = file.read_bytes()
    words = WORDS["DELTAWEB_BACKUP_PASSPHRASE"]
    return LineReader(BytesIO(data), str(file), len(data), lambda: words)
