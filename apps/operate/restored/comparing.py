"""Compare a restored database with lines of the audit record that were kept outside."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from apps.operate.errors import AuditLinesInvalidError
from apps.operate.loading import load
from apps.operate.restored.revivals import AuditLine, withdrawals

MAX_LENGTH: Final = 3_500_000  # a page and REST take requests of 4 MiB
MAX_SHOWN: Final = 500
CHANGE: Final = "CHANGE"


@dataclass(frozen=True, slots=True, kw_only=True)
class CameBack:
    """An access that was taken away after the backup, and that it brings back.

    Attributes:
        at: When it was taken away, as the line says.
        by: Who did it.
        access: What came back, in a sentence.
    """

    at: str
    action: str
    by: str
    access: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The changes in lines of the audit record that the backup does not have.

    Attributes:
        compared_at: When they were compared, in ISO 8601.
        num_lines: The lines that were read.
        num_changes: The changes among them that the backup does not have.
        num_back: The accesses that came back.
        came_back: The newest of these, at most 500.
    """

    compared_at: str
    num_lines: int
    num_changes: int
    num_back: int
    came_back: list[CameBack]


def read_changes(path: str) -> str:
    """Return the lines of a file that record changes."""
    try:
        with Path(path).expanduser().open(encoding="utf-8", errors="replace") as file:
            return "".join(line for line in file if f'"{CHANGE}"' in line)
    except OSError as error:
        raise AuditLinesInvalidError(
            problem=f"{path[:200]} cannot be read ({error.strerror})"
        ) from None


def compare_lines(
    text: str, *, since: datetime, until: datetime, now: datetime
) -> Comparison:
    """Return which accesses were taken away between a backup and its restore.

    Args:
        text: JSON lines of the audit record. A header of syslog is ignored.
        since: The moment of the backup.
        until: The moment of the restore.
    """
    load()
    known = {one.action: one for one in withdrawals}
    lines = list(_lines(text.splitlines()))
    if not lines:
        raise AuditLinesInvalidError(problem="there is no line of an audit record")
    later = [
        (at, line)
        for at, line in lines
        if since < at <= until and line.get("kind") == CHANGE
    ]
    later.sort(key=lambda one: one[0], reverse=True)
    found: dict[str, CameBack] = {}
    for at, line in later:
        withdrawal = known.get(str(line.get("action")))
        if withdrawal is None or not withdrawal.is_back(line, now):
            continue
        access = withdrawal.says(line)
        found.setdefault(
            access,
            CameBack(
                at=at.isoformat(),
                action=withdrawal.action,
                by=str(line.get("actor", ""))[:200],
                access=access,
            ),
        )
    return Comparison(
        compared_at=now.isoformat(),
        num_lines=len(lines),
        num_changes=len(later),
        num_back=len(found),
        came_back=list(found.values())[:MAX_SHOWN],
    )


def _lines(texts: Iterable[str]) -> Iterator[tuple[datetime, AuditLine]]:
    """Yield the lines with their times.

    Raises:
        AuditLinesInvalidError: For one that is not of an audit record.
    """
    for number, text in enumerate(texts, 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text[text.index("{") :])
            at = datetime.fromisoformat(line["at"])
            line["action"]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            problem = f"line {number:,} is not of an audit record"
            raise AuditLinesInvalidError(problem=problem) from error
        yield (at if at.tzinfo else at.replace(tzinfo=UTC)), line
