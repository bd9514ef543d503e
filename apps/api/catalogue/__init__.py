"""The REST endpoints of tables, their contents and operations, lakes and storages."""
