"""How many files a recipient may be in the middle of fetching at the same time.

A download that its client does not go on with costs a connection and an open file, and
no thread (`deltaweb.web_worker`); of those each process has so many to give.
"""

from collections import Counter
from threading import Lock
from typing import Final
from uuid import UUID

from deltaweb.sharing.errors import TooManyDownloadsError

# Of one process. A cluster that reads with a task a core keeps one open for each.
MAX_OF_A_TOKEN: Final = 64
MAX_OF_ALL: Final = 320
_lock = Lock()
_running: Counter[UUID] = Counter()


class Download:
    """A place among the downloads, from the moment it is taken until it is ended.

    Raises:
        TooManyDownloadsError: If the token, or all together, have as many as may be.
    """

    def __init__(self, token_id: UUID) -> None:
        self._token_id: UUID | None = token_id
        with _lock:
            if _running[token_id] >= MAX_OF_A_TOKEN or _running.total() >= MAX_OF_ALL:
                raise TooManyDownloadsError
            _running[token_id] += 1

    def end(self) -> None:
        """Give the place back; safe to repeat."""
        with _lock:
            token_id, self._token_id = self._token_id, None
            if token_id is None:
                return
            _running[token_id] -= 1
            if not _running[token_id]:
                del _running[token_id]
