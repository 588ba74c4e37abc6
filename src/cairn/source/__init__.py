"""From a folder to parsed files: which files, in which language, with which definitions, cut into which chunks."""
