"""The reference implementation opens the files that the funnel leaves.

It skips more files of a table with generated partition columns, and where the largest
text of a file is a beginning of the one in a condition: it takes that for whole. It
skips fewer for an OR between partition columns and others.
"""

import pytest

from deltaweb.index.query.funnel import explain
from deltaweb.index.query.questions import Question
from deltaweb.index.query.shared_version import SharedVersion
from tests.support import matrix
from tests.support.conditions.table_conditions import conditions_of
from tests.support.golden.golden_modern import LARGE, NAMES, ModernTable
from tests.support.peers.reference_implementation import Reference

TABLES = [n for n in NAMES if n.startswith("delta-spark__") and n not in LARGE]
OFTEN = ["delta-spark__checks"]
# Its rows are as many as the files that the scan of the table has opened.
OPENED = """
frame = spark.read.format("delta").load({folder!r}).where({sql!r})
frame._jdf.collectAsList()  # Python has no year 0
def scans(node):
    found = [node] if node.nodeName().startswith("Scan") else []
    children = node.children()
    for place in range(children.size()):
        found += scans(children.apply(place))
    return found
count = 0
for scan in scans(frame._jdf.queryExecution().executedPlan()):
    metrics = scan.metrics()
    if metrics.contains("numFiles"):
        count += metrics.apply("numFiles").value()
found = spark.range(count)
"""


@matrix("name", TABLES, often=OFTEN)
def test_as_many_files_are_opened(reference: Reference, name: str) -> None:
    table = ModernTable(name)
    snapshot = table.table.snapshot_metadata()
    if snapshot.refusal is not None:
        pytest.skip("its rows may not be read")
    version = SharedVersion(snapshot, root=table.table.root, parts={})
    has_partitions = bool(snapshot.metadata.partition_columns)
    for sql in conditions_of(snapshot.schema, snapshot.read()):
        question = Question(sql, version.schema, version.metadata)
        found = explain(question, version.live_parts())
        ours = found.funnel.after_statistics.num_files
        code = OPENED.format(folder=str(table.folder), sql=sql)

        theirs = reference.count(code)

        if " OR " in sql and has_partitions and "IS NULL" not in sql:
            assert theirs >= ours, sql
        elif name == "delta-spark__generated" or (">" in sql or "NOT" in sql):
            assert theirs <= ours, sql
        else:
            assert theirs == ours, sql
