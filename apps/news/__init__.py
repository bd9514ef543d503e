"""What has happened, told at once to the pages that wait for it, in any process."""
