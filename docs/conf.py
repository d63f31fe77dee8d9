"""Sphinx configuration; `make docs` builds with every warning an error."""

from pathlib import Path

import mercer
from mercer.studio.static_site import write_site

# The playground that docs/studio.md shows; written at every build, and kept out of the sources.
EXTRA = Path(__file__).with_name("_build") / "extra"
write_site(EXTRA / "playground")

project = "Mercer"
author = "The Mercer developers"
copyright = "2026, The Mercer developers"
version = release = mercer.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb"]
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_default_options = {"exclude-members": "set_fit_request, set_score_request, set_output"}
# Members are listed by the templates; numpydoc would list inherited ones a second time.
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "nested_sections": True,
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 5,
    "matplotlib_animations": True,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"Mercer {release}"
html_static_path = ["_static"]
html_extra_path = [str(EXTRA)]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False


def _norms_are_no_substitutions(_app, _what, _name, _object, _options, lines):
    """Escape | in docstrings: there it is a norm, written so that it reads well in a terminal."""
    in_doctest = in_maths = False
    for number, line in enumerate(lines):
        stripped = line.strip()
        in_doctest = stripped.startswith(">>>") or (in_doctest and bool(stripped))
        in_maths = stripped.startswith(".. math::") or (in_maths and (not stripped or line.startswith("   ")))
        if not in_doctest and not in_maths:
            # Every second part stands between backticks, where nothing needs escaping.
            parts = line.split("`")
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[number] = "`".join(parts)


def setup(app):
    """Run after numpydoc, which has the default priority of 500."""
    app.connect("autodoc-process-docstring", _norms_are_no_substitutions, priority=600)
