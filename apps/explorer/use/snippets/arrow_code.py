"""pandas, by two readers that filter with expressions of Arrow."""

from apps.explorer.rows.filters import RowFilter
from apps.explorer.use.snippets.python_values import (
    PYTHON_OPERATORS,
    python_lines,
    python_value,
    value_imports,
)
from apps.explorer.use.snippets.shown_view import ShownView
from apps.pages.snippets import python_text

PROFILE = "profile.share"


def pandas_code(view: ShownView) -> str:
    """Return Python that reads a view into pandas by `deltalake`."""
    arguments = []
    if view.columns:
        arguments.append(f"    columns={_names(view.columns)},")
    if view.filters:
        arguments.append(f"    filters={arrow_condition(view.filters)},")
    table = f"DeltaTable({python_text(view.location)}, version={view.version})"
    call = ["to_pandas(", *arguments, ")"] if arguments else ["to_pandas()"]
    return python_lines(
        ["# pip install deltalake pandas pyarrow"],
        value_imports(view.filters),
        [*arrow_imports(view.filters), "from deltalake import DeltaTable"],
        [f"{view.variable} = {table}.{call[0]}", *call[1:], f"{view.variable}.head()"],
    )


def delta_sharing_code(view: ShownView) -> str:
    """Return Python that reads a shared view; "" where the table is in no share."""
    if not view.shared_as:
        return ""
    name = view.variable
    url = python_text(f"{PROFILE}#{view.shared_as}")
    lines = [f"{name} = delta_sharing.load_as_pandas({url}, version={view.version})"]
    if view.filters:
        lines += [
            f"rows = pa.Table.from_pandas({name}, preserve_index=False)",
            f"{name} = rows.filter({arrow_condition(view.filters)}).to_pandas()",
        ]
    if view.columns:
        lines.append(f"{name} = {name}[{_names(view.columns)}]")
    imports = arrow_imports(view.filters)
    whole = [line for line in imports if not line.endswith("as pa")]
    return python_lines(
        [
            "# pip install delta-sharing",
            f"# {PROFILE} is a recipient's profile",
        ],
        value_imports(view.filters),
        [
            "import delta_sharing",
            *(["import pyarrow as pa", *whole] if view.filters else []),
        ],
        [*lines, f"{name}.head()"],
    )


def arrow_imports(filters: tuple[RowFilter, ...]) -> list[str]:
    """Return the lines that expressions of Arrow need."""
    lines = ["import pyarrow as pa"] * any(_needs_type(wanted) for wanted in filters)
    return lines + ["import pyarrow.compute as pc"] * bool(filters)


def arrow_condition(filters: tuple[RowFilter, ...]) -> str:
    """Return the conditions as one expression of Arrow."""
    parts = [_condition(wanted) for wanted in filters]
    return parts[0] if len(parts) == 1 else " & ".join(f"({part})" for part in parts)


def _condition(wanted: RowFilter) -> str:
    column = f"pc.field({python_text(wanted.column)})"
    if wanted.operand is None:
        return f"{column}.{'is_null' if wanted.operator == 'null' else 'is_valid'}()"
    value = python_value(wanted.operand, wanted.type_name)
    if wanted.operator == "contains":
        return f"pc.match_substring({column}, {value})"
    if _needs_type(wanted):
        value = f"pa.scalar({value}, pa.float32())"
    return f"{column} {PYTHON_OPERATORS[wanted.operator]} {value}"


def _needs_type(wanted: RowFilter) -> bool:
    """Whether Arrow would widen the column to compare it with Python's own value."""
    return wanted.type_name == "float" and wanted.operand is not None


def _names(columns: tuple[str, ...]) -> str:
    return f"[{', '.join(python_text(name) for name in columns)}]"
