from apps.explorer.compare.schema import schema_part
from deltaweb.delta.changes import diff_schemas
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from tests.support import cases


def schema(*names: str, kind: str = "long") -> StructType:
    return StructType(tuple(StructField(name, PrimitiveType(kind)) for name in names))


REMOVED = [f"r{number}" for number in range(150)]
CHANGED = [f"c{number}" for number in range(120)]
ADDED = [f"a{number}" for number in range(180)]
BEFORE = StructType((*schema(*REMOVED).fields, *schema(*CHANGED).fields))
AFTER = StructType((*schema(*ADDED).fields, *schema(*CHANGED, kind="string").fields))


@cases(
    "page, counts",
    {
        "the first page": (1, (180, 20, 0)),
        "the second goes on where it ended": (2, (0, 130, 70)),
        "the last has the rest": (3, (0, 0, 50)),
        "one behind the last is the last": (9, (0, 0, 50)),
    },
)
def test_changes_of_a_schema_come_in_pages(page: int, counts: tuple[int, int, int]):
    part = schema_part(diff_schemas(BEFORE, AFTER), page)

    shown = part.changes
    assert (len(shown.added), len(shown.removed), len(shown.changed)) == counts
    assert (part.paged.count, part.paged.num_pages) == (450, 3)
