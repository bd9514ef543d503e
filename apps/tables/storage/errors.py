"""The errors of storage connections, and the wording of each; none holds a value."""

from deltaweb.delta.errors import DeltaError, LocationDeniedError


class StorageNameError(DeltaError, code="storage-name-invalid"):
    name: str
    message = "{name:.80r} is not a name of a storage."
    hint = "Use letters, digits, dots, _ and -, at most 100."


class StorageNameTakenError(DeltaError, code="storage-name-taken"):
    name: str
    prefix: str
    status = 409
    message = "A storage named {name} exists already, for {prefix}."
    hint = "Choose another name, or pass --replace to give it other options."


class StoragePrefixTakenError(DeltaError, code="storage-prefix-taken"):
    name: str
    prefix: str
    status = 409
    message = "{prefix} belongs to the storage {name} already."
    hint = "Choose a longer prefix, or replace or remove the other storage."


class StorageNotFoundError(DeltaError, code="storage-not-found"):
    name: str
    status = 404
    message = "No storage is named {name:.100r}."
    hint = "`storage list` shows the names of all storages."


class StorageElsewhereError(DeltaError, code="storage-elsewhere"):
    name: str
    location: str
    message = "{location} is not read through the storage {name}."
    hint = "Name the storage with the longest prefix that holds it, or none."


class StorageOptionError(DeltaError, code="storage-option-invalid"):
    reason: str
    message = "An option of the storage cannot be used: {reason}."
    hint = "Write KEY=VALUE, KEY=env:VARIABLE or KEY=file:PATH."


class StorageFieldError(DeltaError, code="storage-field-invalid"):
    """A field of the form that adds a bucket, which is its `kind`, cannot be used."""

    kind: str
    reason: str
    message = "{reason}."
    hint = "Nothing was stored."


class StorageKeyDeniedError(LocationDeniedError, code="storage-key-denied"):
    hint = "Give this key the right to list the bucket and to read its objects."


class StorageHostError(DeltaError, code="storage-host-not-allowed"):
    host: str
    reason: str
    message = "{host} is not allowed as the host of a storage: {reason}."
    hint = "An administrator can allow it in DELTAWEB_STORAGE_HOSTS."


class DocumentError(DeltaError, code="document-unreachable"):
    url: str
    reason: str
    message = "{url:.200} cannot be reached: {reason}."
    hint = "Check the address, and that this server reaches it."


class StorageReferenceError(DeltaError, code="storage-reference-missing"):
    storage: str
    option: str
    source: str
    reason: str
    message = (
        "The storage {storage} takes its option {option} from {source}, which {reason}."
    )
    hint = "Provide it to every process of the server, then try again."


class StorageSealedError(DeltaError, code="storage-sealed"):
    storage: str
    message = "The options of the storage {storage} are sealed with another secret key."
    hint = (
        "Put the former key into DELTAWEB_SECRET_KEY_FALLBACKS, or give the options "
        "again: storage add --replace."
    )
