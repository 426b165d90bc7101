"""Parts of verl are imported without what its root imports, which is torch and Ray."""

from partial_import import load

load("verl", "verl.interactions.base")
