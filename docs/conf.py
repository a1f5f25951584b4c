"""The site: Sphinx with MyST, so that every page stays Markdown, and furo, which loads nothing from elsewhere."""

from __future__ import annotations

from importlib import metadata

project = "discreet"
author = "the discreet authors"
version = release = metadata.version("discreet")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["draws/*", "examples/*"]
html_theme = "furo"
html_title = "discreet"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_copy_source = True
html_show_sphinx = False
templates_path: list[str] = []
suppress_warnings = ["misc.highlighting_failure"]
