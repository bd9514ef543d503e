"""A local store in which another writer is faster than the next commit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from deltaweb.storage.local import LocalTableStore


class Overtaken(LocalTableStore):
    """A store in which another writer is faster, once."""

    rival: Callable[[], object] | None = None

    @contextmanager
    def repeated_put(self) -> Iterator[Callable[[str, bytes], None]]:
        if self.rival is not None:
            rival, self.rival = self.rival, None
            rival()
        with super().repeated_put() as put_if_absent:
            yield put_if_absent
