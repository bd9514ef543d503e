"""The second process that reads commits: run with the number of a connection."""

import gc
import sys
from importlib.abc import MetaPathFinder
from multiprocessing.connection import Connection

REFUSED = "pandas"


class _Refusal(MetaPathFinder):
    """Keeps pyarrow from importing pandas, where that happens to be installed.

    It takes longer than all else that the process imports, and nothing uses it.
    """

    def find_spec(self, name: str, *_: object) -> None:
        """Say of one package that it is not there; of others, nothing."""
        if name == REFUSED:
            raise ModuleNotFoundError(name=name)


def main() -> None:
    """Answer at the connection whose number the command line tells."""
    gc.disable()  # values of JSON hold no circle
    sys.meta_path.insert(0, _Refusal())
    from deltaweb.index.history.commit_share import serve  # noqa: PLC0415 (not before)

    serve(Connection(int(sys.argv[1])))


if __name__ == "__main__":
    main()
