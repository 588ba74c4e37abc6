"""The steps that make the team's database, in the order of their names."""
