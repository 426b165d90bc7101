"""The version of this package, as its metadata says; that of the server is in `Client().health()`."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("canvas-gym")
except PackageNotFoundError:  # used from a source folder that was not installed
    __version__ = "0+source"
