"""Turns words into vectors with the static model bundled in the package; hides the model's files and its tokenizer."""
