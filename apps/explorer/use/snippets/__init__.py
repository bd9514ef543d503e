"""The code samples of "Use this table", one module for each tool.

`shown_view` describes the version, columns and filter that a page shows. `tools`
chooses the samples that can read them.
"""

from apps.explorer.use.snippets.restore_code import restore_snippets
from apps.explorer.use.snippets.shown_view import ShownView
from apps.explorer.use.snippets.tools import TOOLS
from apps.pages.snippets import Snippet

__all__ = ["ShownView", "restore_snippets", "view_snippets"]


def view_snippets(view: ShownView) -> list[Snippet]:
    """Return the code that reads a view, for each tool, or why it cannot.

    Tools that cannot come last: the first is the one that a page shows unasked.
    """
    found = [made for tool in TOOLS if (made := tool.snippet(view)) is not None]
    return sorted(found, key=lambda made: bool(made.refusal))
