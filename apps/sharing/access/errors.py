"""The errors of whole schemas, directories and OAuth clients, and their wording."""

from apps.sharing.errors import AccessError, SharingStateError


class SharedSchemaNotFoundError(SharingStateError, code="shared-schema-not-found"):
    share: str
    name: str
    status = 404
    message = "The share {share} has no schema {name:.200r} whole."
    hint = "The share {share} itself shows which it has."


class NamespaceUnknownError(SharingStateError, code="namespace-unknown"):
    namespace: str
    message = "No table is in the namespace {namespace:.80r}."
    hint = "Write it as in the names of its tables; default is that of bare names."


class TableOfSchemaError(SharingStateError, code="table-of-schema"):
    name: str
    schema: str
    status = 409
    message = "{name} is shared with the whole schema {schema}."
    hint = "Remove the schema, or hide the table from viewers: that withdraws it."


class DirectoryRefusedError(SharingStateError, code="directory-refused"):
    name: str
    reason: str
    message = "{name} cannot be read as a folder: {reason}."
    hint = "Share it by URLs, as every table is."


class ClientInvalidError(SharingStateError, code="client-invalid"):
    reason: str
    message = "No OAuth client can be made of this: {reason}."
    hint = "Give an issuer, an audience, and a subject or a group."


class ClientTakenError(SharingStateError, code="client-taken"):
    name: str
    status = 409
    message = "Tokens of that issuer, audience and subject open {name} already."
    hint = "Revoke that client first, or take another subject or group."


class IdentityUnknownError(AccessError, code="identity-unknown"):
    reason: str
    message = "This token gives no access here: {reason}."
    hint = "Ask the provider which issuer, audience and subject it expects."
