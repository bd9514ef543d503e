"""deltaweb itself: its own Python, and this server's rows by curl."""

import shlex

from apps.explorer.use.snippets.shown_view import ShownView
from apps.pages.snippets import names_text, python_lines, python_text
from deltaweb.delta.values.time_zones.known import UTC_ZONE

KEY = "DELTAWEB_KEY"


def deltaweb_code(view: ShownView) -> str:
    """Return Python that reads a view by the package that this server is."""
    version = "" if view.version is None else str(view.version)
    place = python_text(view.location)
    if view.time_zone != UTC_ZONE:
        place += f", time_zone={python_text(view.time_zone)}"
    arguments = []
    if view.columns:
        arguments.append(f"    columns={names_text(view.columns)},")
    conditions = [*(wanted.sql for wanted in view.filters), *view.sql]
    if conditions:
        predicate = " AND ".join(f"({condition})" for condition in conditions)
        arguments.append(f"    predicate={python_text(predicate)},")
    read = ["read(", *arguments, ")"] if arguments else ["read()"]
    return python_lines(
        ["# in the environment that has deltaweb: the rows are a table of Arrow"],
        ["from deltaweb import DeltaTable"],
        [
            f"snapshot = DeltaTable({place}).snapshot({version})",
            f"{view.variable} = snapshot.{read[0]}",
            *read[1:],
        ],
    )


def curl_code(view: ShownView) -> str:
    """Return a command that asks this server for the rows; "" without its address."""
    if not view.data_url:
        return ""
    return (
        f"# {KEY} holds an API key, from Account and API keys\n"
        "# while a worker reads the rows the answer is 202 and has none: ask again\n"
        f'curl -sS -H "Authorization: Bearer ${KEY}" {shlex.quote(view.data_url)}'
    )
