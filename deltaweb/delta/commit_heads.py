"""The lines that commits begin with, where these are their commitInfo.

Most writers put it first. A parser of actions would read a quarter of a log's bytes
only to find it there, so such lines are cut off before.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from deltaweb.delta.action_json import CommitData
from deltaweb.delta.provenance import SAYS_NOTHING, RawProvenance, cut_provenance

BEGINNING: Final = b'{"commitInfo":'


class CutCommits(NamedTuple):
    """Commits without the lines that they began with.

    Attributes:
        rests: What is left of each.
        heads: The lines that were cut off, by position.
        provenance: What these say; nothing for a commit of which none was cut.
    """

    rests: Sequence[CommitData]
    heads: Mapping[int, bytes]
    provenance: list[RawProvenance]


def cut_heads(commits: Sequence[CommitData]) -> CutCommits:
    """Cut the commitInfo off that commits begin with; off none where one is odd."""
    rests, heads = [], {}
    for at, commit in enumerate(commits):
        data = commit.data
        end = data.find(b"\n") if data.startswith(BEGINNING) else -1
        if end < 0:
            rests.append(commit)
        else:
            heads[at] = data[:end]
            rests.append(CommitData(commit.name, data[end + 1 :]))
    provenance = [SAYS_NOTHING] * len(commits)
    said = cut_provenance([*heads.values()])
    if said is None:
        return CutCommits(commits, {}, provenance)
    for at, one in zip(heads, said, strict=True):
        provenance[at] = one
    return CutCommits(rests, heads, provenance)
