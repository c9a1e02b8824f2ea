"""Data that comes with the package; `ATTRIBUTION.md` says from where."""

from importlib import resources

from jaxbandits.errors import unknown_name

__all__ = ["NAMES", "text"]

#: Names for `data:NAME`.
NAMES = ("market-returns",)


def text(name: str) -> str:
    """A bundled table as CSV text.

    Raises:
        UsageError: an unknown name.
    """
    if name not in NAMES:
        raise unknown_name("bundled data", name, NAMES)
    return resources.files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
