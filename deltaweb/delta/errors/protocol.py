"""Errors of a table whose protocol asks for more than we read."""

from collections.abc import Iterable

from deltaweb.delta.errors.base import DeltaError


class UnsupportedProtocolError(DeltaError):
    """The table asks for a reader version above ours."""

    code = "unsupported-protocol"

    def __init__(
        self, *, root: str, version: int, min_reader_version: int, supported: int
    ) -> None:
        super().__init__(
            f"{root} at version {version} needs reader version "
            f"{min_reader_version}; this server reads up to {supported}.",
            hint="Its metadata and history are shown; older versions may be readable.",
        )
        self.version = version
        self.min_reader_version = min_reader_version


class UnsupportedFeatureError(DeltaError):
    """The table uses reader features that this server does not read."""

    code = "unsupported-feature"

    def __init__(self, *, root: str, version: int, features: Iterable[str]) -> None:
        self.features = tuple(features)
        super().__init__(
            f"{root} at version {version} uses {', '.join(self.features)}, "
            "which this server does not read.",
            hint="Its metadata and history are shown; older versions may be readable.",
        )
        self.version = version


class CommitTimesError(UnsupportedFeatureError):
    """The times of the commits are in the commits, where they are not read yet."""

    def __init__(self, *, root: str, version: int, feature: str) -> None:
        self.features = (feature,)
        super(UnsupportedFeatureError, self).__init__(
            f"{root} keeps the times of its commits in the commits ({feature}), which "
            "this server does not read: it cannot say which version a time means.",
            hint="Name the version by its number.",
        )
        self.version = version


class UnsupportedWriterError(DeltaError):
    """The table asks for a writer version above ours."""

    code = "unsupported-writer-protocol"

    def __init__(
        self,
        *,
        root: str,
        version: int,
        min_writer_version: int,
        supported: int,
        operation: str,
    ) -> None:
        super().__init__(
            f"{root} at version {version} needs writer version "
            f"{min_writer_version}; this server writes up to {supported} and makes "
            f"{operation} of it.",
            hint="Let an engine that knows this version do it.",
        )
        self.version = version
        self.min_writer_version = min_writer_version


class UnsupportedWriterFeatureError(DeltaError):
    """The table uses features whose rules for writers this server does not keep."""

    code = "unsupported-writer-feature"

    def __init__(
        self, *, root: str, version: int, features: Iterable[str], operation: str
    ) -> None:
        self.features = tuple(features)
        super().__init__(
            f"{root} at version {version} uses {', '.join(self.features)}; this "
            f"server makes {operation} of such a table.",
            hint="Let an engine that knows these features do it.",
        )
        self.version = version
