"""Finding the best mechanism, and proving that it is the best."""
