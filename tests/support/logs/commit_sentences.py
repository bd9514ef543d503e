"""The sentence of a commit, by what the commit says of itself."""

from typing import Any

from deltaweb.delta.log.commits.summary import CommitSummary
from deltaweb.index.history.sentences.changes import commit_sentence

FIELDS = {*CommitSummary._fields} - {"operation", "version"}


def did(operation: str, files: str = "", **said: Any) -> CommitSummary:  # noqa: ANN401 (JSON)
    """A commit that says what it did.

    Args:
        files: How many came and went: "+1 -2".
        said: Fields of a summary; metrics, which begin with `num`; and parameters.
    """
    known = {name: said.pop(name) for name in FIELDS & {*said}}
    for count in files.split():
        kind = "num_added_files" if count[0] == "+" else "num_removed_files"
        known[kind] = int(count[1:])
    metrics = {name: said.pop(name) for name in [*said] if name.startswith("num")}
    return CommitSummary(
        operation=operation, **{"metrics": metrics, "parameters": said, **known}
    )


def say(operation: str, **said: Any) -> str:  # noqa: ANN401 (as of `did`)
    """The sentence of a commit."""
    return commit_sentence(did(operation, **said))
