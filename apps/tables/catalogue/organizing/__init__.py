"""The labels, pins and namespaces by which people organize the catalog."""
