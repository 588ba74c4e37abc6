"""Learning from use: from evidence to examples, and from these to a tuning that has proved itself."""
