"""Sphinx: the pages of this folder and the reference of the Python package, for scripts/docs."""

import fwsr

project = "fwsr"
author = "the fwsr developers"
version = release = fwsr.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3  # links such as forms.md#covariance-form

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings name the types
napoleon_google_docstring = False
napoleon_use_rtype = False
# Names as they stand in the docstring: the lists of Sphinx lose the last underscore of weights_,
# and tear "weights_, strength_" apart.
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]

html_theme = "furo"
html_title = f"fwsr {release}"
html_show_copyright = False
html_extra_path = ["../build/site"]  # docs/make_pages.py: a live page
