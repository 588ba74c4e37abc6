"""Turns texts into vectors: with the static model in the package, or with another model that the user configured."""
