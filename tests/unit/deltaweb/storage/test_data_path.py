"""Paths of the log lead below the table's root, or nowhere."""

import pytest

from deltaweb.delta.errors import PathEscapesTableError
from deltaweb.storage.data_path import resolve_data_path
from tests.support import cases


def resolve(path: str, root: str = "/lake/t") -> str:
    return resolve_data_path(path, root=root, allowed_roots=["/more"])


@cases(
    "path, place",
    {
        "relative, decoded once": ("a%2520b", "/lake/t/a%20b"),
        "absolute": ("/lake/t/a", "/lake/t/a"),
        "a short URL": ("file:/lake/t/a", "/lake/t/a"),
        "a URL": ("file:///lake/t/a%20b", "/lake/t/a b"),
        "an upper scheme": ("FILE:///lake/t/a", "/lake/t/a"),
        "this machine": ("file://localhost/more/a", "/more/a"),
        "in upper letters": ("file://LOCALHOST/more/a", "/more/a"),
    },
)
def test_a_path_has_one_place(path: str, place: str) -> None:
    assert resolve(path) == place


@pytest.mark.parametrize("root", ["/lake/t", "/", "s3://bucket/t"])
@pytest.mark.parametrize(
    "path",
    [
        *["file://other/lake/t/a", "file://localhost.evil/lake/t/a", "file:lake/t/a"],
        *["file://localhost:80/lake/t/a", "file://me@localhost/lake/t/a", "file:"],
        *["file://", "file://localhost", "hdfs:///lake/t/a", "a\0b", "a%00b"],
        pytest.param("file://lake/t/a", id="a host of the name of a folder"),
    ],
)
def test_what_names_another_machine_or_none_is_refused(path: str, root: str) -> None:
    with pytest.raises(PathEscapesTableError):
        resolve(path, root)


@pytest.mark.parametrize(
    "path",
    ["../a", "/etc/passwd", "file:///etc/passwd", "file://localhost/lake/t/../u/a"],
)
def test_what_leads_out_of_the_table_is_refused(path: str) -> None:
    with pytest.raises(PathEscapesTableError):
        resolve(path)
