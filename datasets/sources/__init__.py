"""Sources of tables, one module each.

A kind of source that a server serves (`datasets.sources.kinds.NETWORK`) has a module of its name,
with a function ``fetch(source, target, access, folder)`` that returns a pyarrow table, or leaves a
file in `folder` and returns None: `source` is the mapping of the data set's YAML, `target` the
label column's name or None for the last column, `access` the options of `data` that it needs, and
`folder` an empty folder for whatever the client wants to store. It runs in a process of its own
(`datasets.sources.client`, started by `datasets.sources.remote`).
"""
