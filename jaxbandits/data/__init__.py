"""Bundled data; `ATTRIBUTION.md` gives the sources."""

from importlib import resources

from jaxbandits.errors import unknown_name
from jaxbandits.io.serialize import File

__all__ = ["NAMES", "table"]

#: Names for `data:NAME`.
NAMES = ("market-returns",)


def table(name: str) -> File:
    """Return a bundled table as its CSV file.

    Raises:
        UsageError: an unknown name.
    """
    if isinstance(name, File):
        return name
    normal = str(name).strip().lower().replace("_", "-")
    if normal not in NAMES:
        raise unknown_name("bundled data", str(name), NAMES)
    return File.of(normal, resources.files(__name__).joinpath(f"{normal}.csv").read_bytes())
