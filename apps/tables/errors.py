"""The errors of the catalogue, and the wording of each."""

from collections.abc import Sequence

from deltaweb.delta.errors import DeltaError


class TableNameError(DeltaError, code="table-name-invalid"):
    name: str
    reason: str
    message = "{name:.80r} is not a table's name: {reason}."
    hint = "Write `table` or `namespace.table`, with letters, digits, _ and -."


class TableNameTakenError(DeltaError, code="table-name-taken"):
    name: str
    status = 409
    message = "A table named {name} is already registered."
    hint = "Choose another name, or rename or remove that table first."


class TableNotRegisteredError(DeltaError, code="table-not-registered"):
    name: str
    similar: Sequence[str] = ()
    message = "No table is named {name:.200r}."
    hint = "{_meant}`table list` shows the names of all tables."

    @property
    def _meant(self) -> str:
        return f"Did you mean {' or '.join(self.similar)}? " if self.similar else ""


class OwnerUnknownError(DeltaError, code="table-owner-unknown"):
    name: str
    message = "No account is named {name:.150r}."
    hint = "The owner of a table is an account that can sign in."


class TagError(DeltaError, code="table-tag-invalid"):
    tag: str
    message = "{tag:.80r} cannot be a tag."
    hint = (
        "A tag has at most 50 letters, digits, and _ - . : /, and a table at most 20 "
        "tags."
    )


class TableInUseError(DeltaError, code="table-in-use"):
    name: str
    users: Sequence[str]
    status = 409
    message = "{name} cannot be removed: it is still used by {users}."
    hint = "Remove it there first."


class PlaceSharedError(DeltaError, code="place-shared"):
    """Something cannot be private while an open table leads to its files.

    Attributes:
        others: The names of open tables, which everybody sees.
    """

    name: str
    others: Sequence[str]
    status = 409
    message = "{name} cannot be private: {others} would still show its files."
    hint = (
        "Remove these from the catalog. Or move all tables of this place into one "
        "namespace by a new name, and make that namespace private."
    )


class ResultTooLargeError(DeltaError, code="result-too-large"):
    rows: int
    max_bytes: int
    message = (
        "The first {rows} rows already exceed the limit of {_mib} MiB for a download."
    )
    hint = "Filter further, or use `deltaweb table rows --format csv`."

    @property
    def _mib(self) -> int:
        return self.max_bytes >> 20


class ScanRootError(DeltaError, code="scan-root-invalid"):
    root: str
    reason: str
    message = "{root} cannot be scanned: {reason}."
    hint = "Give an existing folder that this user can read, or a URL."


class LakeNotFoundError(DeltaError, code="lake-not-found"):
    status = 404
    message = "There is no such lake."
    hint = "See the list of lakes."


class LakeOfProviderError(DeltaError, code="lake-of-provider"):
    name: str
    status = 409
    message = "This lake has the tables that the provider {name} shares."
    hint = "Remove the provider instead; its lake is removed with it."


class NoWorkerError(DeltaError, code="no-worker"):
    job: str
    message = "This job waits, because no worker takes it: {job}."
    hint = "Start one (make run, or deltaweb worker); nothing is lost."


class OutputFormatError(DeltaError, code="output-format-unknown"):
    name: str
    formats: Sequence[str]
    message = "{name} does not say which format to write."
    hint = "End the name with {_choice}."

    @property
    def _choice(self) -> str:
        return " or ".join(self.formats)


class MergeSourceError(DeltaError, code="merge-source-gone"):
    status = 409
    message = (
        "Nothing was merged: the source table is no longer registered, or the user who "
        "requested this cannot see it."  # nor may all who see the job
    )
    hint = "Choose a source table from your catalog."


class AskerGoneError(DeltaError, code="asker-gone"):
    status = 409
    message = "The user who requested this can no longer sign in."
    hint = "Ask another user to request it."


class OperationOutdatedError(DeltaError, code="operation-outdated"):
    """The table is no longer as it was when an operation was agreed to.

    Attributes:
        was_shown: Whether a preview was agreed to.
    """

    name: str
    was_shown: bool = True
    status = 409
    message = "Nothing was changed: the table {name} has changed{_since}."
    hint = "Check the new preview, then confirm it."

    @property
    def _since(self) -> str:
        if self.was_shown:
            return ", and the preview that was shown no longer holds"
        return " since this was requested"


class NamespaceNotFoundError(DeltaError, code="namespace-not-found"):
    name: str
    status = 404
    message = "No namespace is named {name:.80r}."
    hint = (
        "The catalog lists those that you can see. The first table makes a namespace, "
        "or 'deltaweb namespace set {name:.80}'."
    )


class RequestNotFoundError(DeltaError, code="request-not-found"):
    number: int
    status = 404
    message = "There is no request {number} that you can see."
    hint = "The page Requests lists yours, and those that you decide."


class RequestRefusedError(DeltaError, code="request-refused"):
    """A request that cannot be made.

    Attributes:
        reason: Such as "anna can view it already".
    """

    name: str
    reason: str
    status = 409
    message = "Access to {name} was not requested: {reason}."
    hint = "The page Requests lists your requests and their answers."


class NothingToGiveError(DeltaError, code="nothing-to-give"):
    """The approval of a request would give nothing.

    Attributes:
        reason: Such as "the share is off".
    """

    name: str
    reason: str
    status = 409
    message = "Access to {name} cannot be given: {reason}."
    hint = "Reject the request, or correct this and approve it then."


class RequestInvalidError(DeltaError, code="request-invalid"):
    reason: str
    status = 422
    message = "{reason}"
    hint = "Say for what you need it, in up to 500 characters."


class RequestDecidedError(DeltaError, code="request-decided"):
    """A request that waits no longer.

    Attributes:
        outcome: Such as "tom approved it".
    """

    number: int
    outcome: str
    status = 409
    message = "Nothing was changed: request {number} is not open, because {outcome}."
    hint = "The person can request access again."


class GrantNotFoundError(DeltaError, code="right-not-found"):
    number: int
    status = 404
    message = "There is no grant {number} that you can end."
    hint = "The page Access of a table or a namespace lists its grants."


class HolderAmbiguousError(DeltaError, code="holder-ambiguous"):
    """A name that a person and a group of the sign-on provider have."""

    name: str
    status = 409
    message = "{name:.80r} is a person and a group of the sign-on provider."
    hint = "Say that it is a person. To mean the group, rename one of them first."
