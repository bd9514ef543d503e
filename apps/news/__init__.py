"""The events that tell open pages to refresh, across all processes."""
