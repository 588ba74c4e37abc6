"""Turns texts into vectors, with the bundled static model or another one that the user configured."""
