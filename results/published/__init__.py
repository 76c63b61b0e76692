"""Numbers that others printed: one folder per publication, and what reads them.

A folder holds ``published.yaml`` (:mod:`~results.published.description`), ``values.csv``
(:mod:`~results.published.values`) and, where values differ for known reasons, ``reasons.csv``
(:mod:`~results.published.reasons`).
"""
