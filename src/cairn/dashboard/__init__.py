"""The pages of the daemon: what Cairn knows, for the user's browser. Pages ask operations, never stores."""
