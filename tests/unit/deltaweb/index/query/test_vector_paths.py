import pyarrow as pa
import pytest

from deltaweb.delta.deletion_vectors.errors import DeletionVectorError
from deltaweb.delta.log.file_actions import DELETION_VECTOR
from deltaweb.index.query.vector_paths import vector_paths

PATHS = pa.array(["a.parquet"])


def vector(kind: str, place: str, **facts: int) -> pa.StructArray:
    fields = {"storageType": kind, "pathOrInlineDv": place}
    sizes = {"offset": 1, "sizeInBytes": 40, "cardinality": 6, **facts}
    return pa.array([fields | sizes], DELETION_VECTOR)


@pytest.mark.parametrize(
    ("vectors", "place"),
    [
        pytest.param(pa.nulls(1, DELETION_VECTOR), None, id="none"),
        pytest.param(vector("i", "0" * 20), None, id="in the log"),
        pytest.param(
            vector("u", "ab" + "0" * 20),
            "ab/deletion_vector_00000000-0000-0000-0000-000000000000.bin",
            id="in a folder of its own",
        ),
        pytest.param(vector("p", "file:///lake/t/x%20y.bin"), "x y.bin", id="absolute"),
    ],
)
def test_lead_below_the_root(vectors: pa.StructArray, place: str | None) -> None:
    assert vector_paths(PATHS, vectors, "/lake/t").to_pylist() == [place]


@pytest.mark.parametrize(
    "vectors",
    [
        pytest.param(vector("p", "file:///etc/passwd"), id="absolute, elsewhere"),
        pytest.param(vector("u", "../../../" + "0" * 20), id="a folder above"),
        pytest.param(vector("u", "short"), id="no name"),
        pytest.param(vector("x", "0" * 20), id="an unknown kind"),
        pytest.param(vector("u", "0" * 20, sizeInBytes=-1), id="a negative size"),
    ],
)
def test_lead_nowhere_else(vectors: pa.StructArray) -> None:
    with pytest.raises(DeletionVectorError, match=r"data file a\.parquet"):
        vector_paths(PATHS, vectors, "/lake/t")
