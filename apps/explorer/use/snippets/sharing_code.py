"""pandas, by `delta-sharing`, of a table that is shared."""

from apps.explorer.rows.filters import RowFilter
from apps.explorer.use.snippets.python_values import python_value, value_imports
from apps.explorer.use.snippets.shown_view import ShownView
from apps.pages.snippets import names_text, python_lines, python_text
from deltaweb.delta.scan.operators import OF_ADDRESSES

PROFILE = "profile.share"


def delta_sharing_code(view: ShownView) -> str:
    """Return Python that reads a shared view; "" where the table is in no share."""
    if not view.shared_as:
        return ""
    name = view.variable
    url = python_text(f"{PROFILE}#{view.shared_as}")
    version = "" if view.version is None else f", version={view.version}"
    lines = [f"{name} = delta_sharing.load_as_pandas({url}{version})"]
    if view.filters:
        lines += [
            f"rows = pa.Table.from_pandas({name}, preserve_index=False)",
            f"{name} = rows.filter({arrow_condition(view.filters)}).to_pandas()",
        ]
    if view.columns:
        lines.append(f"{name} = {name}[{names_text(view.columns)}]")
    return python_lines(
        [
            "# pip install delta-sharing",
            f"# {PROFILE} is a recipient's profile",
        ],
        value_imports(view.filters),
        [
            "import delta_sharing",
            *(["import pyarrow as pa"] if view.filters else []),
            *(["import pyarrow.compute as pc"] if view.filters else []),
        ],
        [*lines, f"{name}.head()"],
    )


def arrow_condition(filters: tuple[RowFilter, ...]) -> str:
    """Return the conditions as one expression of Arrow."""
    parts = [_condition(wanted) for wanted in filters]
    return parts[0] if len(parts) == 1 else " & ".join(f"({part})" for part in parts)


def _condition(wanted: RowFilter) -> str:
    column = f"pc.field({python_text(wanted.column)})"
    if wanted.literal is None:
        return f"{column}.{'is_null' if wanted.operator == 'null' else 'is_valid'}()"
    value = python_value(wanted.literal)
    if wanted.operator == "contains":
        return f"pc.match_substring({column}, {value})"
    if wanted.literal.kind == "float":
        # Arrow would widen the column to compare it with Python's own value.
        value = f"pa.scalar({value}, pa.float32())"
    return f"{column} {OF_ADDRESSES[wanted.operator].python} {value}"
