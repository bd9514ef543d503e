"""The clauses of a merge as a caller says them, one after the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.writer.merge.clauses import About, MergeAction, MergeClause

Assignments = Mapping[str, str]
CarryOut = Callable[[Sequence[MergeClause]], CommitResult]
"""Does what clauses say, in one commit."""


@dataclass(frozen=True, slots=True, eq=False)
class MergeBuilder:
    """A merge that is not done yet; each `when_...` returns one with that clause too.

    In SQL `t` is the table, `s` the source. Of clauses about the same rows the first
    one counts whose condition is true.

    Attributes:
        carry_out: Does it, where the rows of the source and the SQL by which rows
            match are known.
    """

    carry_out: CarryOut
    clauses: tuple[MergeClause, ...] = ()

    def when_matched_update(
        self, assignments: Assignments | None = None, condition: str | None = None
    ) -> "MergeBuilder":
        """Change rows that match; every column takes the source's without SQL."""
        return self._with(About.MATCHED, MergeAction.UPDATE, condition, assignments)

    def when_matched_delete(self, condition: str | None = None) -> "MergeBuilder":
        """Remove rows that match."""
        return self._with(About.MATCHED, MergeAction.DELETE, condition)

    def when_not_matched_insert(
        self, assignments: Assignments | None = None, condition: str | None = None
    ) -> "MergeBuilder":
        """Add rows of the source that match none; every column without SQL.

        A column that takes no value is null.
        """
        return self._with(About.NOT_MATCHED, MergeAction.INSERT, condition, assignments)

    def when_not_matched_by_source_update(
        self, assignments: Assignments, condition: str | None = None
    ) -> "MergeBuilder":
        """Change rows of the table that no row of the source matches."""
        about = About.NOT_MATCHED_BY_SOURCE
        return self._with(about, MergeAction.UPDATE, condition, assignments)

    def when_not_matched_by_source_delete(
        self, condition: str | None = None
    ) -> "MergeBuilder":
        """Remove rows of the table that no row of the source matches."""
        about = About.NOT_MATCHED_BY_SOURCE
        return self._with(about, MergeAction.DELETE, condition)

    def execute(self) -> CommitResult:
        """Do it, in one commit."""
        if not self.clauses:
            message = "say what to do with rows that match or do not match"
            raise ValueError(message)
        return self.carry_out(self.clauses)

    def _with(
        self,
        about: About,
        action: MergeAction,
        condition: str | None,
        assignments: Assignments | None = None,
    ) -> "MergeBuilder":
        clause = MergeClause(
            about=about, action=action, condition=condition, assignments=assignments
        )
        return replace(self, clauses=(*self.clauses, clause))
