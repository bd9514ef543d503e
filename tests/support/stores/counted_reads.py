"""A file in memory that takes down which ranges of it are read."""


class CountedSource:
    """A file that is read by ranges."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.ranges: list[tuple[int, int]] = []

    def size(self) -> int:
        return len(self._data)

    def read_at(self, nbytes: int, offset: int) -> bytes:
        self.ranges.append((offset, nbytes))
        return self._data[offset : offset + nbytes]
