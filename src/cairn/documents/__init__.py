"""Byte-exact edits of JSON, JSONC, TOML, YAML and text files that belong to somebody else."""
