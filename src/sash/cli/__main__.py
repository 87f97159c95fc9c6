"""`python -m sash.cli` is `sash`."""

from sash.cli.main import main

main()
