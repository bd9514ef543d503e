"""A process that does not load pandas, though it may be installed.

pyarrow imports pandas, where it finds it, with the first value that it makes: to ask
whether that is one of pandas's own. This takes longer than all else that a command
imports, and nothing of deltaweb makes such values.
"""

import sys

REFUSED = "pandas"


class _Refusal:
    """Answers the import of one package as if it were not installed."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Say of one package that it is not there; of others, nothing."""
        if name == REFUSED:
            raise ModuleNotFoundError(name=name)


def refuse_pandas() -> None:
    """Keep this process from importing pandas, from here on.

    It is for processes that run our code alone: pyarrow asks once, and takes what it
    is answered for the life of the process.
    """
    sys.meta_path.insert(0, _Refusal())
