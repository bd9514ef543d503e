"""How people organize the catalog: by labels, pins and namespaces."""
