"""What kinds of jobs are called on pages: filled by the apps above.

The kind of a job is the name of its task; machine forms keep that.
"""

from collections.abc import Collection, Mapping

_words: dict[str, str] = {}
_looks: set[str] = set()


def register(words: Mapping[str, str], *, looks: Collection[str] = ()) -> None:
    """Say what some kinds of jobs do, in words.

    Args:
        words: Words of each kind.
        looks: Those whose jobs only fill a page, which says itself how they end.
    """
    _words.update(words)
    _looks.update(looks)


def looks() -> frozenset[str]:
    """Return the kinds whose jobs only fill a page."""
    return frozenset(_looks)


def kind_of(text: str) -> str:
    """Return the kind that a text names, in words or by its own name."""
    called = text.casefold()
    kinds = (kind for kind, words in _words.items() if words.casefold() == called)
    return next(kinds, text)


def words_of(kind: str) -> str:
    """Return what a kind of job does; its own name where nobody said."""
    return _words.get(kind, kind)
