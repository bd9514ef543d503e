"""What belongs to no app: errors of every page, and the manual."""
