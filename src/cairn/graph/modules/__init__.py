"""From the text of an import to the file or package that it names: each ecosystem's own way."""
