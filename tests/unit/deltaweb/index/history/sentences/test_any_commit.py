"""Whatever a commit says of itself, it is one short sentence."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.conditions.drawn_examples import examples
from tests.support.logs.commit_sentences import say

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [
        "predicate", "columns", "mode", "version", "properties", "numFiles", "name",
        "fields", "numTargetRowsUpdated", "numTargetRowsCopied", "numDeletedFiles",
        "zOrderBy", "replaceWhere", "mergePredicate", "numDeletionVectorsAdded",
        "numDeletionVectorsUpdated", "oldClusteringColumns", "newClusteringColumns",
        "featureName",
    ]
)  # fmt: skip
OPERATIONS = [
    "WRITE", "MERGE", "UPDATE", "DELETE", "TRUNCATE", "OPTIMIZE", "VACUUM START",
    "VACUUM END", "RESTORE", "CREATE TABLE", "REPLACE TABLE", "ADD COLUMNS",
    "DROP COLUMNS", "RENAME COLUMN", "CHANGE COLUMN", "SET TBLPROPERTIES",
    "UNSET TBLPROPERTIES", "ADD CONSTRAINT", "DROP CONSTRAINT", "ADD FEATURE",
    "UPGRADE PROTOCOL", "CLUSTER BY", "CONVERT", "DROP FEATURE", "REORG", "",
]  # fmt: skip


@settings(max_examples=examples(300))
@given(
    operation=st.sampled_from(OPERATIONS),
    parameters=st.dictionaries(KEYS, JSON, max_size=4),
    metrics=st.dictionaries(KEYS, JSON, max_size=4),
    files=st.integers(0, 3),
)
def test_says_one_sentence_of_anything(operation, parameters, metrics, files):
    sentence = say(
        operation,
        parameters=parameters,
        metrics=metrics,
        num_added_files=files,
        num_removed_files=3 - files,
    )

    assert sentence.endswith(".")
    assert len(sentence) < 2000


def test_keeps_long_and_hostile_texts_short_and_on_one_line() -> None:
    predicate = "a = '" + "\u202e\n" * 5000 + "'"

    sentence = say("DELETE", parameters={"predicate": predicate})

    assert len(sentence) < 200
    assert "\n" not in sentence
    assert "\u202e" not in sentence
