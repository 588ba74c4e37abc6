"""Tells agents of Cairn in their own files, and takes it back byte for byte."""
