"""The site: `make docs` writes it to build/docs, from the pages and docstrings."""

import re
from collections.abc import Iterator

import click
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

import sash
from sash.cli.main import main

project = "sash"
version = release = sash.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "pydata_sphinx_theme"
html_title = "sash"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy_code.js"]
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
}
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
default_role = "code"  # docstrings write `so`
maximum_signature_line_length = 80


class Commands(Directive):
    """What `--help` says, of every command."""

    def run(self) -> list[nodes.Node]:
        return [self._section(*each) for each in commands(main, "sash")]

    def _section(self, name: str, text: str) -> nodes.Node:
        title = nodes.title(name, name)
        body = nodes.literal_block(text, text, language="text")
        ids = [nodes.make_id(name)]
        return nodes.section("", title, body, ids=ids, names=[name])


def commands(
    command: click.Command, name: str, above: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """Every command with its help text, a group before its own."""
    context = click.Context(
        command, above, name, terminal_width=88, **command.context_settings
    )
    yield context.command_path, command.get_help(context)
    for each, below in getattr(command, "commands", {}).items():
        yield from commands(below, each, context)


def escape_bars(
    app: Sphinx,
    what: str,
    name: str,
    subject: object,
    options: object,
    lines: list[str],
) -> None:
    """Docstrings write |x| for a size, which would name a substitution."""
    lines[:] = [re.sub(r"\|(\w+)\|", r"\|\1\|", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Make `{commands}` known, and docstrings readable."""
    app.add_directive("commands", Commands)
    app.connect("autodoc-process-docstring", escape_bars)
