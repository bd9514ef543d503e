"""The driver's session: its cluster, its gateway, and the Java runtime it gets."""
