"""What the people of these tests sign in by."""

PASSWORD = "a long enough phrase"
