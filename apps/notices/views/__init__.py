"""The pages of notifications, and the bell of every page."""
