"""The names of actions in the record, in plain words.

A recipient's actions read after its name (`globex read data`), as do a person's
(`admin created the share`).
"""

from typing import Final

WORDS: Final = {
    # === Calls of the sharing protocol ===
    "share.list": "listed the shares",
    "share.get": "looked up a share",
    "schema.list": "listed the schemas",
    "table.list": "listed the tables of a schema",
    "table.list_all": "listed all tables",
    "table.version": "requested the version",
    "table.metadata": "read the schema",
    "table.query": "read data",
    "table.query_status": "asked how far a query is",
    "table.changes": "read changes",
    "table.credentials": "took credentials for the folder of a table",
    "file.read": "downloaded a file",
    "oauth.token": "traded for an access token",
    "iceberg.config": "opened the Iceberg catalogue",
    "iceberg.namespaces": "listed shares or schemas by Iceberg",
    "iceberg.namespace": "looked up a share or a schema by Iceberg",
    "iceberg.tables": "listed tables by Iceberg",
    "iceberg.table": "loaded a table by Iceberg",
    "call.refused": "was turned away",
    # === Activation ===
    "activation.view": "opened the activation link",
    "activation.download": "downloaded the profile",
    # === Changes of shares and recipients ===
    "share.create": "created the share",
    "share.rename": "renamed the share",
    "share.update": "changed the comment of the share",
    "share.delete": "deleted the share",
    "share.add_table": "added a table",
    "share.open_history": "began to share the history of a table",
    "share.close_history": "no longer shares the history of a table",
    "share.start_history": "changed where the shared history of a table begins",
    "share.filter_table": "changed which rows of a table are shared",
    "share.choose_columns": "changed which columns of a table are shared",
    "share.narrow_table": "changed what of a table one recipient sees",
    "share.switch_off": "turned the share off",
    "share.switch_on": "turned the share on again",
    "share.describe_table": "changed the comment of a shared table",
    "share.update_table": "changed a shared table",  # all fields in one old record
    "share.open_directory": "let the whole folder of a table be read",
    "share.close_directory": "no longer lets the folder of a table be read",
    "share.add_schema": "shared a whole schema",
    "share.remove_schema": "took a whole schema out",
    "share.remove_table": "removed a table",
    "recipient.create": "created the recipient",
    "recipient.set_contact": "changed the contact of the recipient",
    "recipient.describe": "changed the comment of the recipient",
    "recipient.set_networks": "changed where the recipient may come from",
    "recipient.set_properties": "changed the properties of the recipient",
    "recipient.update": "changed the recipient",  # likewise
    "recipient.delete": "deleted the recipient",
    "grant.add": "granted a share",
    "grant.remove": "revoked a share",
    "token.issue": "issued a token",
    "link.issue": "made an activation link",
    "token.profile": "took a profile directly",
    "token.rotate": "rotated the tokens",
    "token.retire": "moved the end of a token",
    "token.revoke": "revoked a token",
    # === Changes of tables and people ===
    "table.register": "registered a table",
    "table.rename": "renamed a table",
    "table.describe": "changed the description of a table",
    "table.hide": "hid a table from viewers",
    "table.show": "let viewers see a table",
    "table.schedule": "changed how often a table is refreshed",
    "table.remove": "removed a table from the catalog",
    "table.checkpoint": "requested a checkpoint of a table",
    "table.cleanup": "requested a clean-up of the log of a table",
    "table.set_properties": "set properties of a table",
    "table.unset_properties": "unset properties of a table",
    "table.add_columns": "added columns to a table",
    "table.drop_column": "dropped a column of a table",
    "table.rename_column": "renamed a column of a table",
    "table.widen_column": "gave a column of a table a wider type",
    "table.set_comment": "changed a comment of a table",
    "table.add_constraint": "added a constraint to a table",
    "table.drop_constraint": "dropped a constraint of a table",
    "table.upgrade_protocol": "raised the protocol of a table",
    "table.restore": "restored a version of a table",
    "table.delete_rows": "deleted rows of a table",
    "table.update_rows": "updated rows of a table",
    "table.merge": "merged rows into a table",
    "table.optimize": "optimized a table",
    "table.create": "created a table",
    "table.convert": "converted a folder of Parquet files",
    "table.import": "imported files into a table",
    "table.vacuum": "deleted files that a table no longer needs",
    "job.retry": "ran a job again",
    "sign_in": "signed in",
    "key.issue": "made an API key",
    "key.revoke": "revoked an API key",
    "user.create": "added a user",
    "user.link": "made a sign-in link",
    "user.set_password": "set a password",
    "user.disable": "disabled a user",
    "user.enable": "enabled a user",
    "user.set_role": "changed the role of a user",
    "user.set_theme": "changed the theme of their pages",
    "user.set_time_zone": "changed the time zone of their pages",
    "storage.add": "added a storage connection",
    "storage.replace": "replaced a storage connection",
    "storage.reseal": "sealed the storage connections again",
    "storage.remove": "removed a storage connection",
    "lake.add": "added a lake",
    "lake.scan": "scanned a lake",
    "lake.schedule": "changed how often a lake is scanned",
    "lake.set_namespace": "changed the namespace of a lake’s tables",
    "lake.remove": "removed a lake",
}


def action_words(action: str) -> str:
    """Return what an action did; an unknown one is spelled out."""
    known = WORDS.get(action)
    if known is not None:
        return known
    noun, _, verb = action.partition(".")
    return f"{verb.replace('_', ' ')} ({noun})" if verb else noun.replace("_", " ")
