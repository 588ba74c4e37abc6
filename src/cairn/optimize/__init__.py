"""Learning from use: turns evidence into examples, and examples into a tuning that has proved itself."""
