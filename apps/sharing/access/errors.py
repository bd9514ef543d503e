"""The errors of whole schemas, directories and OAuth clients, and their wording."""

from apps.sharing.errors import AccessError, SharingStateError


class SharedSchemaNotFoundError(SharingStateError, code="shared-schema-not-found"):
    share: str
    name: str
    status = 404
    message = "The share {share} shares no whole namespace as {name:.200r}."
    hint = "'deltaweb share show {share}' lists its schemas."


class NamespaceUnknownError(SharingStateError, code="namespace-unknown"):
    namespace: str
    message = "The namespace {namespace:.80r} has no tables."
    hint = (
        "Use the part before the dot of a table name; tables without one are in "
        "default."
    )


class TableOfSchemaError(SharingStateError, code="table-of-schema"):
    name: str
    schema: str
    status = 409
    message = "{name} is shared because the whole schema {schema} is shared."
    hint = "Remove the schema, or make the table private, which withdraws it."


class DirectoryRefusedError(SharingStateError, code="directory-refused"):
    name: str
    reason: str
    message = "{name} cannot be shared as a folder: {reason}."
    hint = "Share it without the folder; recipients then read it by file URLs."


class ClientInvalidError(SharingStateError, code="client-invalid"):
    reason: str
    message = "This OAuth client cannot be made: {reason}."
    hint = "Give an issuer, an audience, and a subject or a group."


class ClientTakenError(SharingStateError, code="client-taken"):
    name: str
    status = 409
    message = "Tokens with that issuer, audience and subject already belong to {name}."
    hint = "Revoke that client first, or use another subject or group."


class IdentityUnknownError(AccessError, code="identity-unknown"):
    reason: str
    message = "This token gives no access here: {reason}."
    hint = "Ask the provider which issuer, audience and subject it expects."
