"""What the frame of the pages holds: the rail, and the numbers of the first page."""
