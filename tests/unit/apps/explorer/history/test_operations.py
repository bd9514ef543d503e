import pytest
from django.conf import settings

from deltaweb.web.explorer.history.operations import FAMILIES, operation_family


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        pytest.param("WRITE", "WRITE", id="a write"),
        pytest.param("STREAMING UPDATE", "WRITE", id="a stream only adds"),
        pytest.param("CREATE TABLE AS SELECT", "WRITE", id="a select brings rows"),
        pytest.param("CREATE TABLE", "ALTER", id="an empty table is a definition"),
        pytest.param("MERGE", "MERGE", id="a merge"),
        pytest.param("UPDATE", "UPDATE", id="an update is no merge"),
        pytest.param("UPDATE SCHEMA", "ALTER", id="a schema is no row"),
        pytest.param("VACUUM END", "VACUUM", id="both ends of a vacuum"),
        pytest.param("SET TBLPROPERTIES", "ALTER", id="properties"),
        pytest.param("delete", "DELETE", id="any case"),
        pytest.param("Something of mine", "OTHER", id="a word that nobody knows"),
        pytest.param("", "OTHER", id="no word at all"),
        pytest.param("   ", "OTHER", id="blanks alone"),
    ],
)
def test_an_operation_finds_its_family(operation: str, expected: str) -> None:
    assert operation_family(operation).name == expected


def test_every_family_has_an_icon_of_the_sprite() -> None:
    text = (settings.PACKAGE_DIR / "static" / "icons.txt").read_text(encoding="ascii")
    names = set(text.split())

    assert {family.icon for family in FAMILIES} <= names
