"""Paths of a log lead to the same place below the root, many at once or one by one."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.deletion_vectors.errors import DeletionVectorError
from deltaweb.delta.errors import PathEscapesTableError
from deltaweb.delta.log.file_actions import DELETION_VECTOR
from deltaweb.index.query.relative_paths import (
    are_plain,
    find_outside,
    relative_path,
    relative_paths,
    vector_paths,
)
from tests.support import cases

ROOT = "/lake/table"


def texts(*paths: str) -> pa.StringArray:
    return pa.array(paths, pa.string())


class TestRelativePaths:
    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("part-0.parquet", "part-0.parquet"),
            ("day=2026-01-01/part-0.parquet", "day=2026-01-01/part-0.parquet"),
            ("a%20b/c", "a b/c"),
            ("k=a%2520b/c", "k=a%20b/c"),
            ("a+b/c", "a+b/c"),
            ("%C3%A9/%F0%9F%98%80", "é/😀"),
            ("é/c", "é/c"),
            ("a/./b", "a/b"),
            ("a//b", "a/b"),
            ("a/../b", "b"),
            ("t=12:30/x", "t=12:30/x"),
            ("t=12%3A30/x", "t=12:30/x"),
            ("/lake/table/a%20b", "a b"),
            ("file:/lake/table/a", "a"),
            ("file:///lake/table/a/b", "a/b"),
            ("...", "..."),
            ("a../b", "a../b"),
            ("_delta_logs/x", "_delta_logs/x"),
            ("day=_delta_log/x", "day=_delta_log/x"),
        ],
    )
    def test_are_decoded_once(self, path: str, expected: str) -> None:
        assert find_outside(texts("x", path), ROOT) is None
        assert relative_paths(texts("x", path), ROOT).to_pylist() == ["x", expected]

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "..",
            "../x",
            "a/../../x",
            "%2e%2e/x",
            "%2E%2e%2Fx",
            "a/%2e./../..",
            "/etc/passwd",
            "/lake/tablet/x",
            "/lake/table/../x",
            "file:///etc/passwd",
            "file:x",
            "s3://bucket/x",
            "http://host/x",
            "C:/x",
            "a%00b",
            "a\0b",
            "%FF",
            ".",
            "./",
            "a/..",
            "_delta_log/00000000000000000000.json",
            "a/../_delta_log/x",
            "inner/_delta_log/x",
            "%5Fdelta_l%6Fg/x",
            "/lake/table/_delta_log/x",
        ],
    )
    def test_that_lead_outside_are_found(self, path: str) -> None:
        paths = texts("x", "y/z", path)

        assert find_outside(paths, ROOT) == path
        with pytest.raises(PathEscapesTableError):
            relative_paths(paths, ROOT)

    @pytest.mark.parametrize(
        ("path", "root"),
        [
            ("s3://bucket/t/a%20b", "s3://bucket/t"),
            ("s3a://bucket/t/a%20b", "s3://bucket/t"),
            ("gcs://bucket/t/a%20b", "gs://bucket/t"),
        ],
    )
    def test_below_a_url_are_made_relative(self, path: str, root: str) -> None:
        assert relative_paths(texts(path), root).to_pylist() == ["a b"]

    def test_of_a_slice_are_those_of_the_slice(self) -> None:
        paths = texts("../x", "a", "b%20c", "../y").slice(1, 2)

        assert find_outside(paths, ROOT) is None
        assert relative_paths(paths, ROOT).to_pylist() == ["a", "b c"]
        assert are_plain(paths.slice(0, 1))

    @given(
        st.lists(
            st.text(alphabet="ab./%25eE0:é\\ ", max_size=12), min_size=1, max_size=5
        )
    )
    def test_are_the_same_one_by_one(self, paths: list[str]) -> None:
        expected: list[str] = []
        outside = []
        for path in paths:
            try:
                expected.append(relative_path(path, ROOT))
            except PathEscapesTableError:
                outside.append(path)

        found = find_outside(texts(*paths), ROOT)
        assert (found in outside) if outside else (found is None)
        if not outside:
            assert relative_paths(texts(*paths), ROOT).to_pylist() == expected


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
