"""Pages for administrators, and the one for recipients."""
