"""What became of a merge, whoever did it, as a transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.transaction import TableRead, Transaction
from deltaweb.writer.changes.change_writer import WrittenChanges
from deltaweb.writer.changes.work_times import WorkTimes
from deltaweb.writer.merge.clauses import About, MergeClause

MERGE: Final = "MERGE"
PARAMETERS: Final = {
    About.MATCHED: "matchedPredicates",
    About.NOT_MATCHED: "notMatchedPredicates",
    About.NOT_MATCHED_BY_SOURCE: "notMatchedBySourcePredicates",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MergeOutcome:
    """What a merge has written.

    Attributes:
        changed: The files whose rows changed, rows of `Snapshot.files`; some stay
            with a vector, and are added again.
    """

    written: WrittenChanges
    num_output_rows: int
    changed: pa.Table
    counts: Mapping[str, int]
    read: TableRead

    def transaction(
        self,
        base: Definition,
        on: str,
        clauses: Sequence[MergeClause],
        times: WorkTimes,
    ) -> Transaction:
        written, changed = self.written, self.changed
        stays = pc.is_in(
            changed["path"], value_set=written.added["path"].combine_chunks()
        )
        left = changed.filter(pc.invert(stays))
        vectors = {f"numTarget{n[3:]}": count for n, count in written.metrics.items()}
        return Transaction(
            base=base,
            operation=MERGE,
            parameters={
                "predicate": on,
                **{
                    name: [c.parameters for c in clauses if c.about is about]
                    for about, name in PARAMETERS.items()
                },
            },
            metrics={
                **self.counts,
                "numOutputRows": self.num_output_rows,
                "numTargetFilesAdded": written.num_new_files,
                "numTargetFilesRemoved": left.num_rows,
                "numTargetBytesAdded": written.num_bytes,
                "numTargetBytesRemoved": pc.sum(left["size"]).as_py() or 0,
                "numTargetChangeFilesAdded": written.change_files.num_rows,
                **vectors,
                **times.metrics(),
            },
            read=self.read,
            added=written.added,
            removed=changed,
            change_files=written.change_files,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MergeOutlook:
    """What a merge would do; nothing is written.

    Attributes:
        outcome: What it would do, but for the files that it would write.
    """

    snapshot: Snapshot
    outcome: MergeOutcome
