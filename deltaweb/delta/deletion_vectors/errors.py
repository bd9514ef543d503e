"""The errors of deletion vectors."""

from deltaweb.delta.errors import DataFileError


class DeletionVectorError(DataFileError, code="deletion-vector-corrupt"):
    """What a data file's deletion vector marks cannot be known.

    `path` is the data file, `vector` the place of the vector.
    """

    vector: str
    reason: str
    message = "The deletion vector {vector} of the data file {path} is bad: {reason}."


class DeletionVectorMissingError(DeletionVectorError, code="deletion-vector-missing"):
    reason: str = "it is gone from storage, perhaps vacuumed"
    message = "The data file {path} cannot be read: {_vector}, {reason}."

    @property
    def _vector(self) -> str:
        return f"of its deletion vector {self.vector}"


class MalformedVectorError(ValueError):
    """Why something is no deletion vector; who knows its file says whose it is."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
