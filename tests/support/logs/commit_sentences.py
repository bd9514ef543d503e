"""The sentence of a commit, by what the commit says of itself."""

from typing import Any

from deltaweb.delta.log.commits.summary import CommitSummary
from deltaweb.index.history.sentences.changes import commit_sentence


def say(operation: str, **fields: Any) -> str:  # noqa: ANN401 (fields of a summary)
    """The sentence of a commit."""
    said = {"parameters": {}, "metrics": {}, **fields}
    return commit_sentence(CommitSummary(operation=operation, **said))
