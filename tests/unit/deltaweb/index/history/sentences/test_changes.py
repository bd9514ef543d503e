"""Commits in plain words, whoever wrote them."""

from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.index.history.sentences.changes import commit_sentence
from tests.support import cases
from tests.support.logs.commit_sentences import did

GIB = 1 << 30


@cases(
    "commit, sentence",
    {
        "a merge of Spark, with its write amplification": (
            did(
                "MERGE",
                "+310 -312",
                numTargetRowsUpdated="41",
                numTargetRowsInserted="3",
                numTargetRowsDeleted="0",
                numTargetRowsCopied="228756",
                predicate="(t.id = s.id)",
                removed_bytes=round(9.1 * GIB),
            ),
            (
                "Updated 41 rows and inserted 3, matching on id; rewrote 312 files"
                " (9.1 GiB), 5,200 rows written for each one changed."
            ),
        ),
        "a merge of delta-rs": (
            did(
                "MERGE",
                "+1 -1",
                num_target_rows_updated=2,
                num_target_rows_inserted=0,
                num_target_rows_deleted=1,
            ),
            "Updated 2 rows and deleted 1; rewrote 1 file.",
        ),
        "an append of Spark": (
            did(
                "WRITE",
                "+16",
                mode="Append",
                numOutputRows="40852",
                added_bytes=13 << 20,
            ),
            "Appended 40,852 rows in 16 new files (13.0 MiB).",
        ),
        "an overwrite of delta-rs": (
            did("WRITE", "+1 -2", mode="Overwrite", num_added_rows=7, added_bytes=500),
            ("Overwrote the table with 7 rows in 1 new file (500 B); removed 2 files."),
        ),
        "a write without metrics is told by its actions": (
            did("WRITE", "+2", added_rows=9),
            "Appended 9 rows in 2 new files.",
        ),
        "a delete of whole files": (
            did("DELETE", "-3", predicate='["(day < 5)"]', numDeletedRows="12"),
            "Deleted 12 rows where day < 5: 3 whole files.",
        ),
        "an update with little amplification says nothing of it": (
            did(
                "UPDATE",
                "+1 -1",
                predicate="id IN (1, 2)",
                num_updated_rows=2,
                num_copied_rows=3,
                removed_bytes=2048,
            ),
            "Updated 2 rows where id IN (1, 2); rewrote 1 file (2.0 KiB).",
        ),
        "an overwrite of the rows of a condition": (
            did("WRITE", "+1 -2", mode="Overwrite", predicate="day = 5", added_rows=7),
            (
                "Replaced the rows where day = 5 with 7 rows in 1 new file;"
                " removed 2 files."
            ),
        ),
        "the ids that Spark gives to columns, and a value that has one": (
            did(
                "DELETE",
                "+1 -1",
                predicate="[\"((col1#19833 = 28) AND (`a b`#7L > 'it\\\\'s x#1'))\"]",
                numDeletedRows="1",
            ),
            (
                "Deleted 1 row where (col1 = 28) AND (a b > 'it\\'s x#1');"
                " rewrote 1 file."
            ),
        ),
        "a merge of Spark by deletion vectors": (
            did(
                "MERGE",
                "+1 -1",
                predicate='["(id#6633 = id#6635L)"]',
                numTargetRowsDeleted="2",
                numTargetDeletionVectorsAdded="1",
            ),
            "Deleted 2 rows, matching on id; marked rows of 1 file as deleted.",
        ),
        "a deletion vector that grows is counted once": (
            did(
                "DELETE",
                "+1 -3",
                numDeletedRows="2",
                numDeletionVectorsAdded="1",
                numDeletionVectorsUpdated="1",
            ),
            "Deleted 2 rows; marked rows of 1 file as deleted and removed 2 files.",
        ),
        "an update by deletion vectors": (
            did(
                "UPDATE",
                "+4 -3",
                numUpdatedRows="4",
                numDeletionVectorsAdded="3",
                added_bytes=4096,
                removed_bytes=3072,
            ),
            ("Updated 4 rows; marked rows of 3 files as deleted and wrote 1 new file."),
        ),
        "an update of some files by deletion vectors": (
            did("UPDATE", "+2 -2", numUpdatedRows="4", numDeletionVectorsAdded="1"),
            "Updated 4 rows; marked rows of 1 file as deleted and rewrote 1 file.",
        ),
        "a whole file that had a deletion vector": (
            did("DELETE", "-1", numDeletedRows="8", numDeletionVectorsRemoved="1"),
            "Deleted 8 rows: 1 whole file.",
        ),
        "a compaction": (
            did(
                "OPTIMIZE",
                "+16 -91",
                numFilesRemoved=91,
                numFilesAdded=16,
                zOrderBy='["customer_id"]',
            ),
            "Compacted 91 files into 16, ordered by customer_id; no row changed.",
        ),
        "the end of a vacuum": (
            did("VACUUM END", numDeletedFiles="77"),
            (
                "Deleted 77 unneeded files;"
                " older versions that need them can no longer be read in full."
            ),
        ),
        "an added column": (
            did("ADD COLUMNS", columns='[{"column":{"name":"a","type":"long"}}]'),
            "Added the column a (bigint).",
        ),
        "a property": (
            did("SET TBLPROPERTIES", properties='{"delta.appendOnly":"true"}'),
            "Set delta.appendOnly = true.",
        ),
        "a restore": (
            did("RESTORE", version=4, numRestoredFiles=3, numRemovedFiles=5),
            "Restored version 4: 3 files restored, 5 removed.",
        ),
        "a protocol": (
            did(
                "UPGRADE PROTOCOL",
                protocol=Protocol(min_reader_version=2, min_writer_version=5),
            ),
            "Raised the protocol to reader version 2 and writer version 5.",
        ),
        "a column of a table that is named by its path": (
            did(
                "DELETE",
                "-1",
                predicate='["((spark_catalog.delta.`/d/a b`.id % 2) = 0)"]',
                numDeletedRows="3",
            ),
            "Deleted 3 rows where (id % 2) = 0: 1 whole file.",
        ),
        "a changed column": (
            did("CHANGE COLUMN", column='{"name":"s.a","type":"integer"}'),
            "Changed the column s.a (int).",
        ),
        "other clustering columns": (
            did("CLUSTER BY", oldClusteringColumns="id", newClusteringColumns="a,s.b"),
            "Clustered the table by a and s.b, no longer by id.",
        ),
        "no clustering columns any more": (
            did("CLUSTER BY", oldClusteringColumns="a,s.b", newClusteringColumns=""),
            "Ended the clustering by a and s.b.",
        ),
        "a clustering that names no column": (
            did("CLUSTER BY", metadata=Metadata(id="m")),
            "Set the table's metadata.",
        ),
        "files that became a table": (
            did("CONVERT", "+2", sourceFormat="parquet", added_bytes=2479),
            "Made a Delta table of 2 Parquet files (2.4 KiB).",
        ),
        "a dropped feature": (
            did("DROP FEATURE", featureName="typeWidening", metadata=Metadata(id="m")),
            "Dropped the table feature typeWidening.",
        ),
        "a column whose metadata holds a feature no more": (
            did("DROP FEATURE", columns='[{"name":"v","type":"integer"}]'),
            "Made v (int) ready for dropping a table feature.",
        ),
        "a purge": (
            did("REORG", "+1 -1", added_bytes=1590, removed_bytes=688),
            "Rewrote 1 file (688 B) into 1 (1.6 KiB); no row changed.",
        ),
        "no purge": (did("REORG"), "Found no file to rewrite."),
        "files of the table that are added again": (
            did("ROW TRACKING UNBACKFILL", "+2", added_bytes=2253),
            "Rewrote the log entries of 2 files; no row changed.",
        ),
        "an operation without words of its own": (
            did("SYNC", metadata=Metadata(id="m")),
            "Set the table's metadata.",
        ),
        "a commit that does not say what it is": (
            did("", "+1 -2", data_change=True),
            "Added 1 file and removed 2 files.",
        ),
        "an empty commit": (did(""), "Changed no file and no metadata."),
    },
)
def test_a_sentence_says_what_a_commit_did(commit, sentence):
    assert commit_sentence(commit) == sentence
