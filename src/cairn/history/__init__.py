"""What the commits of a project say: an index of their words and files, and answers from it."""
