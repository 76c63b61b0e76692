"""Isolation: one process per experiment, with a deadline and a limit on its memory."""
