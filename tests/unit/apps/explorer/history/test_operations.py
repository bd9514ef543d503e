from django.conf import settings

from apps.explorer.history.operations import FAMILIES, operation_family
from tests.support import cases


@cases(
    "operation, expected",
    {
        "a write": ("WRITE", "WRITE"),
        "a stream only adds": ("STREAMING UPDATE", "WRITE"),
        "a select brings rows": ("CREATE TABLE AS SELECT", "WRITE"),
        "an empty table is a definition": ("CREATE TABLE", "ALTER"),
        "a merge": ("MERGE", "MERGE"),
        "an update is no merge": ("UPDATE", "UPDATE"),
        "a schema is no row": ("UPDATE SCHEMA", "ALTER"),
        "both ends of a vacuum": ("VACUUM END", "VACUUM"),
        "properties": ("SET TBLPROPERTIES", "ALTER"),
        "any case": ("delete", "DELETE"),
        "a word that nobody knows": ("Something of mine", "OTHER"),
        "no word at all": ("", "OTHER"),
        "blanks alone": ("   ", "OTHER"),
    },
)
def test_an_operation_finds_its_family(operation: str, expected: str) -> None:
    assert operation_family(operation).name == expected


def test_every_family_has_an_icon_of_the_sprite() -> None:
    text = (settings.SITE / "static" / "icons.txt").read_text(encoding="ascii")
    names = set(text.split())

    assert {family.icon for family in FAMILIES} <= names
