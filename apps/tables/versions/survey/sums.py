"""What sums over the files of a version are on a page."""

from dataclasses import dataclass
from typing import Annotated

from apps.pages.page_json import Named, OnPage


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A name, and the files that have it.

    Attributes:
        count: Row groups or column chunks, as the name is of one.
        example: The path of one such file.
        percent: Of the bytes of all names; `begin` is that of those before.
        of_largest: Of the bytes of the largest name, in percent.
    """

    name: str
    detail: str | None
    num_files: Annotated[int, Named("files")]
    size_bytes: Annotated[int, Named("bytes")]
    num_rows: Annotated[int, Named("rows")]
    count: int
    example: str
    percent: float
    begin: OnPage[float]
    of_largest: OnPage[float]

    @property
    def program(self) -> str:
        """The first words of what a writer says of itself."""
        name, _, rest = self.name.partition(" version ")
        version = rest.partition(" ")[0]
        return f"{name} {version}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlikeColumn:
    """A column, or a part of one, that is otherwise in some files than in the table.

    Attributes:
        column: Its dotted path.
        relation: How: `missing`, `widened`, `legacy`, `unknown`, `refused`, `other`.
        table_type: Its type in the table; None where it has none.
        file_type: As these files store it; None where they do not.
        size_bytes: Of these files; `column_bytes` those of the column in them.
        readers_get: What readers make of it.
    """

    column: str
    relation: str
    table_type: str | None
    file_type: str | None
    num_files: Annotated[int, Named("files")]
    size_bytes: Annotated[int, Named("bytes")]
    column_bytes: int
    example: str
    readers_get: OnPage[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedColumn:
    """A leaf column that files store in more than one way: (stored type, files)."""

    column: str
    ways: list[tuple[str, int]]
