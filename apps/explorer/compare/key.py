"""A key to match rows of two versions by: the address names it, or a suggestion."""

from deltaweb.web.explorer.columns.key import MAX_KEYS, KeySuggestion, table_key
from deltaweb.web.explorer.compare.selector import Comparison
from deltaweb.web.explorer.version.query import QueryError


def parse_key(text: str, found: Comparison) -> tuple[str, ...]:
    """Read `key=` of an address: names of columns, separated by commas.

    Raises:
        PageError: 400 for a column that not both versions have.
    """
    names = [text] if text in found.columns else text.split(",")
    key = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    unknown = [name for name in key if name not in found.columns]
    if unknown or len(key) > MAX_KEYS:
        named = repr(unknown[0][:80]) if unknown else "so many"
        expected = f"columns that both versions have, not {named}"
        raise QueryError(part="key", expected=expected)
    return key


def suggest_key(found: Comparison) -> KeySuggestion | None:
    """Suggest a key: that of a merge, or a column whose values may come once."""
    if found.before is None or found.after is None:
        return None
    low, high = sorted((found.before.version, found.after.version))
    return table_key(found.table, found.columns, after=low, up_to=high)
