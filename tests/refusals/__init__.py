"""One table of refusals for all engines: a wrong use, the kind of its error, and parts of its sentence.

`rows` holds what can be asked of rows of any kind, grouped by who can be asked; each engine runs its groups. `calls`
holds what is refused before there are rows, `pushes` the rows that a running stream refuses, `texts` query text, and
`jobs` the command line.
"""
