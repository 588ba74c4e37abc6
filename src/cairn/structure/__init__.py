"""Looks at one file: its outline, control and data flow, slices, and what a helper makes of it."""
