"""Figures: each module draws one kind and returns it; :mod:`results.figures.write` saves them."""
