"""One module for each rule: its slow reference, and settings in which the shared tests look at it.

    RULE: its class.
    CASES: settings and problems, by words of what they are; `reference` is compared with each, decision by decision.
    TIES: settings with which most runs meet ties.
    reference(view, algorithm): what `test_references.py` says of a reference.

A module is found by being here.
"""

import importlib
import pkgutil

#: The modules, by the class of their rule.
MODULES = {
    module.RULE: module
    for module in (importlib.import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__))
}
