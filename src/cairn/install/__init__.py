"""Installs Cairn in agents' own files, and removes it byte for byte."""
