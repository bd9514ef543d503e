"""curl, of the page's own JSON."""

import shlex

from apps.explorer.use.snippets.shown_view import ShownView

KEY = "DELTAWEB_KEY"


def curl_code(view: ShownView) -> str:
    """Return a command that asks this server for the rows; "" without its address."""
    if not view.data_url:
        return ""
    return (
        f"# {KEY} holds an API key, from Account and API keys\n"
        "# while a worker reads the rows the answer is 202 and has none: ask again\n"
        f'curl -sS -H "Authorization: Bearer ${KEY}" {shlex.quote(view.data_url)}'
    )
