"""The second process that reads commits: run with the number of a connection."""

import gc
import sys
from multiprocessing.connection import Connection

from deltaweb.without_pandas import refuse_pandas


def main() -> None:
    """Answer at the connection whose number the command line tells."""
    gc.disable()  # values of JSON hold no circle
    refuse_pandas()
    from deltaweb.index.history.commit_share import serve  # noqa: PLC0415 (not before)

    serve(Connection(int(sys.argv[1])))


if __name__ == "__main__":
    main()
