"""Pages of the manual, which the search finds by their titles: "rotate a token"."""

from apps.pages.frame import AnyUser
from apps.pages.manual import found_sections
from apps.tables.extension.search_kinds import Hit


def found_help(user: AnyUser, text: str) -> list[Hit]:
    """Return the pages and sections of the manual that a text names."""
    del user
    return [
        Hit(
            name=one.title,
            about="" if one.title == one.page else f"in {one.page}",
            url=one.url,
        )
        for one in found_sections(text)
    ]
