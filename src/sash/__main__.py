"""`python -m sash` is `sash`."""

from sash.cli.main import main

main()
