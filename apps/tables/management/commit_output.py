"""What subcommands that commit answer, and what is recorded of it."""

from dataclasses import asdict

from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.web.pages.command import Output
from deltaweb.web.tables.management.audit import record


def committed(
    action: str, name: str | None, location: str, result: CommitResult, **detail: object
) -> Output:
    """Record a commit to a registered table, and answer with it."""
    record(action, name, version=result.version, **detail)
    data = {"name": name, "location": location, **asdict(result)}
    return Output(data, result_text(result))


def result_text(result: CommitResult) -> str:
    """Say what became of a transaction in one line."""
    if not result.attempts:
        return "Nothing to do: the table is as it was."
    parts = [
        f"{count:,} {word}"
        for count, word in (
            (result.num_added_files, "files added"),
            (result.num_removed_files, "files removed"),
        )
        if count
    ]
    said = f": {', '.join(parts)}" if parts else ""
    return f"Committed version {result.version}{said}."
