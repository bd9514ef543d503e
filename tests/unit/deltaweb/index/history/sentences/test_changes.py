"""Commits in plain words, whoever wrote them."""

import pytest

from deltaweb.delta.protocol.actions import Metadata, Protocol
from tests.support.logs.commit_sentences import say

GIB = 1 << 30


class TestCommitSentence:
    @pytest.mark.parametrize(
        ("operation", "fields", "sentence"),
        [
            pytest.param(
                "MERGE",
                {
                    "metrics": {
                        "numTargetRowsUpdated": "41",
                        "numTargetRowsInserted": "3",
                        "numTargetRowsDeleted": "0",
                        "numTargetRowsCopied": "228756",
                    },
                    "parameters": {"predicate": "(t.id = s.id)"},
                    "num_added_files": 310,
                    "num_removed_files": 312,
                    "removed_bytes": round(9.1 * GIB),
                },
                "Updated 41 rows and inserted 3, matching on id; rewrote 312 files"
                " (9.1 GiB), 5,200 rows written for each one changed.",
                id="a merge of Spark, with its write amplification",
            ),
            pytest.param(
                "MERGE",
                {
                    "metrics": {
                        "num_target_rows_updated": 2,
                        "num_target_rows_inserted": 0,
                        "num_target_rows_deleted": 1,
                    },
                    "num_added_files": 1,
                    "num_removed_files": 1,
                },
                "Updated 2 rows and deleted 1; rewrote 1 file.",
                id="a merge of delta-rs",
            ),
            pytest.param(
                "WRITE",
                {
                    "parameters": {"mode": "Append"},
                    "metrics": {"numOutputRows": "40852"},
                    "num_added_files": 16,
                    "added_bytes": 13 << 20,
                },
                "Appended 40,852 rows in 16 new files (13.0 MiB).",
                id="an append of Spark",
            ),
            pytest.param(
                "WRITE",
                {
                    "parameters": {"mode": "Overwrite"},
                    "metrics": {"num_added_rows": 7},
                    "num_added_files": 1,
                    "num_removed_files": 2,
                    "added_bytes": 500,
                },
                "Overwrote the table with 7 rows in 1 new file (500 B);"
                " removed 2 files.",
                id="an overwrite of delta-rs",
            ),
            pytest.param(
                "WRITE",
                {"num_added_files": 2, "added_rows": 9},
                "Appended 9 rows in 2 new files.",
                id="a write without metrics is told by its actions",
            ),
            pytest.param(
                "DELETE",
                {
                    "parameters": {"predicate": '["(day < 5)"]'},
                    "metrics": {"numDeletedRows": "12"},
                    "num_removed_files": 3,
                },
                "Deleted 12 rows where day < 5: 3 whole files.",
                id="a delete of whole files",
            ),
            pytest.param(
                "UPDATE",
                {
                    "parameters": {"predicate": "id IN (1, 2)"},
                    "metrics": {"num_updated_rows": 2, "num_copied_rows": 3},
                    "num_added_files": 1,
                    "num_removed_files": 1,
                    "removed_bytes": 2048,
                },
                "Updated 2 rows where id IN (1, 2); rewrote 1 file (2.0 KiB).",
                id="an update with little amplification says nothing of it",
            ),
            pytest.param(
                "WRITE",
                {
                    "parameters": {"mode": "Overwrite", "predicate": "day = 5"},
                    "num_added_files": 1,
                    "num_removed_files": 2,
                    "added_rows": 7,
                },
                "Replaced the rows where day = 5 with 7 rows in 1 new file;"
                " removed 2 files.",
                id="an overwrite of the rows of a condition",
            ),
            pytest.param(
                "DELETE",
                {
                    "parameters": {
                        "predicate": '["((col1#19833 = 28) AND'
                        " (`a b`#7L > 'it\\\\'s x#1'))\"]"
                    },
                    "metrics": {"numDeletedRows": "1"},
                    "num_added_files": 1,
                    "num_removed_files": 1,
                },
                "Deleted 1 row where (col1 = 28) AND (a b > 'it\\'s x#1');"
                " rewrote 1 file.",
                id="the ids that Spark gives to columns, and a value that has one",
            ),
            pytest.param(
                "MERGE",
                {
                    "parameters": {"predicate": '["(id#6633 = id#6635L)"]'},
                    "metrics": {
                        "numTargetRowsDeleted": "2",
                        "numTargetDeletionVectorsAdded": "1",
                    },
                    "num_added_files": 1,
                    "num_removed_files": 1,
                },
                "Deleted 2 rows, matching on id; marked rows of 1 file as deleted.",
                id="a merge of Spark by deletion vectors",
            ),
            pytest.param(
                "DELETE",
                {
                    "metrics": {
                        "numDeletedRows": "2",
                        "numDeletionVectorsAdded": "1",
                        "numDeletionVectorsUpdated": "1",
                    },
                    "num_added_files": 1,
                    "num_removed_files": 3,
                },
                "Deleted 2 rows; marked rows of 1 file as deleted and removed 2 files.",
                id="a deletion vector that grows is counted once",
            ),
            pytest.param(
                "UPDATE",
                {
                    "metrics": {"numUpdatedRows": "4", "numDeletionVectorsAdded": "3"},
                    "num_added_files": 4,
                    "num_removed_files": 3,
                    "added_bytes": 4096,
                    "removed_bytes": 3072,
                },
                "Updated 4 rows; marked rows of 3 files as deleted"
                " and wrote 1 new file.",
                id="an update by deletion vectors",
            ),
            pytest.param(
                "UPDATE",
                {
                    "metrics": {"numUpdatedRows": "4", "numDeletionVectorsAdded": "1"},
                    "num_added_files": 2,
                    "num_removed_files": 2,
                },
                "Updated 4 rows; marked rows of 1 file as deleted and rewrote 1 file.",
                id="an update of some files by deletion vectors",
            ),
            pytest.param(
                "DELETE",
                {
                    "metrics": {
                        "numDeletedRows": "8",
                        "numDeletionVectorsRemoved": "1",
                    },
                    "num_removed_files": 1,
                },
                "Deleted 8 rows: 1 whole file.",
                id="a whole file that had a deletion vector",
            ),
            pytest.param(
                "OPTIMIZE",
                {
                    "metrics": {"numFilesRemoved": 91, "numFilesAdded": 16},
                    "parameters": {"zOrderBy": '["customer_id"]'},
                    "num_added_files": 16,
                    "num_removed_files": 91,
                },
                "Compacted 91 files into 16, ordered by customer_id; no row changed.",
                id="a compaction",
            ),
            pytest.param(
                "VACUUM END",
                {"metrics": {"numDeletedFiles": "77"}},
                "Deleted 77 unneeded files;"
                " older versions that need them can no longer be read in full.",
                id="the end of a vacuum",
            ),
            pytest.param(
                "ADD COLUMNS",
                {"parameters": {"columns": '[{"column":{"name":"a","type":"long"}}]'}},
                "Added the column a (bigint).",
                id="an added column",
            ),
            pytest.param(
                "SET TBLPROPERTIES",
                {"parameters": {"properties": '{"delta.appendOnly":"true"}'}},
                "Set delta.appendOnly = true.",
                id="a property",
            ),
            pytest.param(
                "RESTORE",
                {
                    "parameters": {"version": 4},
                    "metrics": {"numRestoredFiles": 3, "numRemovedFiles": 5},
                },
                "Restored version 4: 3 files restored, 5 removed.",
                id="a restore",
            ),
            pytest.param(
                "UPGRADE PROTOCOL",
                {"protocol": Protocol(min_reader_version=2, min_writer_version=5)},
                "Raised the protocol to reader version 2 and writer version 5.",
                id="a protocol",
            ),
            pytest.param(
                "DELETE",
                {
                    "parameters": {
                        "predicate": '["((spark_catalog.delta.`/d/a b`.id % 2) = 0)"]'
                    },
                    "metrics": {"numDeletedRows": "3"},
                    "num_removed_files": 1,
                },
                "Deleted 3 rows where (id % 2) = 0: 1 whole file.",
                id="a column of a table that is named by its path",
            ),
            pytest.param(
                "CHANGE COLUMN",
                {"parameters": {"column": '{"name":"s.a","type":"integer"}'}},
                "Changed the column s.a (int).",
                id="a changed column",
            ),
            pytest.param(
                "CLUSTER BY",
                {
                    "parameters": {
                        "oldClusteringColumns": "id",
                        "newClusteringColumns": "a,s.b",
                    }
                },
                "Clustered the table by a and s.b, no longer by id.",
                id="other clustering columns",
            ),
            pytest.param(
                "CLUSTER BY",
                {
                    "parameters": {
                        "oldClusteringColumns": "a,s.b",
                        "newClusteringColumns": "",
                    }
                },
                "Ended the clustering by a and s.b.",
                id="no clustering columns any more",
            ),
            pytest.param(
                "CLUSTER BY",
                {"metadata": Metadata(id="m")},
                "Set the table's metadata.",
                id="a clustering that names no column",
            ),
            pytest.param(
                "CONVERT",
                {
                    "parameters": {"sourceFormat": "parquet"},
                    "num_added_files": 2,
                    "added_bytes": 2479,
                },
                "Made a Delta table of 2 Parquet files (2.4 KiB).",
                id="files that became a table",
            ),
            pytest.param(
                "DROP FEATURE",
                {
                    "parameters": {"featureName": "typeWidening"},
                    "metadata": Metadata(id="m"),
                },
                "Dropped the table feature typeWidening.",
                id="a dropped feature",
            ),
            pytest.param(
                "DROP FEATURE",
                {"parameters": {"columns": '[{"name":"v","type":"integer"}]'}},
                "Made v (int) ready for dropping a table feature.",
                id="a column whose metadata holds a feature no more",
            ),
            pytest.param(
                "REORG",
                {
                    "num_added_files": 1,
                    "added_bytes": 1590,
                    "num_removed_files": 1,
                    "removed_bytes": 688,
                },
                "Rewrote 1 file (688 B) into 1 (1.6 KiB); no row changed.",
                id="a purge",
            ),
            pytest.param("REORG", {}, "Found no file to rewrite.", id="no purge"),
            pytest.param(
                "ROW TRACKING UNBACKFILL",
                {"num_added_files": 2, "added_bytes": 2253},
                "Rewrote the log entries of 2 files; no row changed.",
                id="files of the table that are added again",
            ),
            pytest.param(
                "SYNC",
                {"metadata": Metadata(id="m")},
                "Set the table's metadata.",
                id="an operation without words of its own",
            ),
            pytest.param(
                "",
                {"num_added_files": 1, "num_removed_files": 2, "data_change": True},
                "Added 1 file and removed 2 files.",
                id="a commit that does not say what it is",
            ),
            pytest.param(
                "", {}, "Changed no file and no metadata.", id="an empty commit"
            ),
        ],
    )
    def test_says_what_a_commit_did(self, operation, fields, sentence):
        assert say(operation, **fields) == sentence
