"""Trees: how their nodes lie in memory, and how rows go down them."""
