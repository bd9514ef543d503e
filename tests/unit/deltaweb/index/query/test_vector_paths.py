import pyarrow as pa
import pytest

from deltaweb.delta.deletion_vectors.errors import DeletionVectorError
from deltaweb.delta.log.file_actions import DELETION_VECTOR
from deltaweb.index.query.vector_paths import vector_paths
from tests.support import cases

PATHS = pa.array(["a.parquet"])


def vector(kind: str, place: str, **facts: int) -> pa.StructArray:
    fields = {"storageType": kind, "pathOrInlineDv": place}
    sizes = {"offset": 1, "sizeInBytes": 40, "cardinality": 6, **facts}
    return pa.array([fields | sizes], DELETION_VECTOR)


@cases(
    "vectors, place",
    {
        "none": (pa.nulls(1, DELETION_VECTOR), None),
        "in the log": (vector("i", "0" * 20), None),
        "in a folder of its own": (
            vector("u", "ab" + "0" * 20),
            "ab/deletion_vector_00000000-0000-0000-0000-000000000000.bin",
        ),
        "absolute": (vector("p", "file:///lake/t/x%20y.bin"), "x y.bin"),
    },
)
def test_lead_below_the_root(vectors: pa.StructArray, place: str | None) -> None:
    assert vector_paths(PATHS, vectors, "/lake/t").to_pylist() == [place]


@cases(
    "vectors",
    {
        "absolute, elsewhere": vector("p", "file:///etc/passwd"),
        "a folder above": vector("u", "../../../" + "0" * 20),
        "no name": vector("u", "short"),
        "an unknown kind": vector("x", "0" * 20),
        "a negative size": vector("u", "0" * 20, sizeInBytes=-1),
    },
)
def test_lead_nowhere_else(vectors: pa.StructArray) -> None:
    with pytest.raises(DeletionVectorError, match=r"data file a\.parquet"):
        vector_paths(PATHS, vectors, "/lake/t")
