"""The descriptions of table features, and the clients that support each."""
