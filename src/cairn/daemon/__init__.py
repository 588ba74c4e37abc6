"""One process for all projects and front ends of a user: HTTP around workspaces."""
