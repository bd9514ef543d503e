"""What somebody who sees a part of a table may see of its files, and of its changes."""
