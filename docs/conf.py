"""Settings of the documentation: `python -m sphinx -W docs docs/_build`.

Sphinx and not MkDocs: MyST-NB runs every code block while the site is built, so that a block which fails ends the
build, and what a page shows was computed by the page. The pages of the algorithms and of the API are written from the
registries by `write_pages.py`.
"""

import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("MPLBACKEND", "agg")
os.environ.setdefault("JAXBANDITS_DOCS", "1")

import write_pages  # noqa: E402 - beside this file

import jaxbandits  # noqa: E402 - the installed package

write_pages.write(HERE)

project, author = "jaxbandits", "The jaxbandits developers"
copyright = "2026, the jaxbandits developers"  # noqa: A001 - the name that the generator reads
release = jaxbandits.__version__ if hasattr(jaxbandits, "__version__") else ""
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "jupyter_execute", "problems_table.md", "protocol_text.md", "theory_table.md"]
html_theme = "furo"
html_title = "jaxbandits"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_in_temp = True  # what a page writes is not kept
nb_execution_timeout = 600
# Cells that have not been executed, by `-D nb_execution_mode=off`, do not say that they are Python.
suppress_warnings = ["myst-nb.lexer"]
nb_execution_raise_on_error = True
nb_merge_streams = True
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_attr_annotations = False  # the table of parameters says what each may be
napoleon_preprocess_types = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"  # a name stands below what it is of
pygments_style, pygments_dark_style = "friendly", "monokai"


#: Stands for a colon in the first line of an attribute or of what is returned: before one would be a type.
COLON = "\ua789"


def keep_colons(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep the first line of an attribute and of what is returned in one piece; `escape` writes its colons again."""
    del app, name, thing, options
    first = [0] if what in {"attribute", "property"} and lines else []
    for i in first + [i + 1 for i, line in enumerate(lines) if line == "Returns:"]:
        lines[i] = lines[i].replace(":", COLON)


def name_defaults(app: Any, what: str, name: str, thing: Any, options: Any, given: Any, returned: Any) -> Any:
    """Write a default that is an object without a text by its name."""
    del app, what, name, thing, options
    return given and given.replace("<dataclasses._MISSING_TYPE object>", "MISSING"), returned


def escape(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape what stands in formulas and means something else to the generator; docstrings are plain text."""
    del app, what, name, thing, options
    # What is between backticks, and examples up to an empty line, stays.
    parts = re.split(r"(`+[^`]*`+|^ *>>> .*(?:\n.*\S.*)*)", "\n".join(lines), flags=re.MULTILINE)
    for i, part in enumerate(parts):
        if part.lstrip().startswith(">>>"):
            continue
        if part.startswith("`"):
            parts[i] = "``" + part.strip("`") + "``"
        else:
            parts[i] = re.sub(r"\||(?<!^)(?<!\n)(?<!\n    )(?<!\\)\*", lambda found: "\\" + found[0], part)
    lines[:] = "".join(parts).replace(COLON, ":").split("\n")


def setup(app: Any) -> None:
    """Register what is above."""
    app.connect("autodoc-process-signature", name_defaults)
    app.connect("autodoc-process-docstring", keep_colons, priority=400)  # before the docstring is parsed
    app.connect("autodoc-process-docstring", escape)
