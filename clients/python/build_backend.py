"""Build backend of this package (PEP 517 and PEP 660), so that `pip install` of a checkout downloads nothing.

Reads the standard `[project]` table of pyproject.toml and packs `src/`. Equal files give equal bytes: no clock, no
order of the file system. Left out: compiled code, data files, dynamic metadata; a key it does not know is an error.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent
SOURCES = ROOT / "src"
EPOCH = (1980, 1, 1, 0, 0, 0)
KNOWN = {
    *("name", "version", "description", "readme", "license", "requires-python", "keywords", "classifiers"),
    *("dependencies", "optional-dependencies"),
}

Settings = Optional[Mapping[str, Any]]
File = Tuple[str, bytes]


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    """Pack the modules into a wheel and return its name."""
    files = [(path.relative_to(SOURCES).as_posix(), path.read_bytes()) for path in _modules()]
    return _write_wheel(Path(wheel_directory), files)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    """Pack a pointer to the sources into a wheel and return its name."""
    return _write_wheel(Path(wheel_directory), [("_canvas_gym.pth", f"{SOURCES}\n".encode())])


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Pack what a wheel is built from into an archive and return its name."""
    project = _project()
    base = f"{_distribution(project)}-{project['version']}"
    own = [ROOT / name for name in ("pyproject.toml", "build_backend.py", project["readme"])]
    files = [(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in [*own, *_modules()]]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in [*files, ("PKG-INFO", _metadata(project))]:
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    (Path(sdist_directory) / f"{base}.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return f"{base}.tar.gz"


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Write the metadata folder alone and return its name."""
    folder, files = _dist_info()
    for name, data in files:
        path = Path(metadata_directory) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def _project() -> Dict[str, Any]:
    project: Dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    unknown = sorted(set(project) - KNOWN)
    if unknown:
        raise ValueError(f"pyproject.toml: build_backend.py does not know [project] {', '.join(unknown)}")
    return project


def _distribution(project: Mapping[str, Any]) -> str:
    return str(project["name"]).replace("-", "_")


def _modules() -> List[Path]:
    found = [
        path for path in SOURCES.rglob("*") if path.is_file() and (path.suffix == ".py" or path.name == "py.typed")
    ]
    return sorted(found)


def _metadata(project: Mapping[str, Any]) -> bytes:
    extras: Mapping[str, List[str]] = project.get("optional-dependencies", {})
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        f"Keywords: {','.join(project.get('keywords', []))}",
        *(f"Classifier: {classifier}" for classifier in project.get("classifiers", [])),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in project.get("dependencies", [])),
        *(line for extra, requirements in extras.items() for line in _extra(extra, requirements)),
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / project["readme"]).read_text("utf-8"),
    ]
    return "\n".join(lines).encode()


def _extra(extra: str, requirements: Iterable[str]) -> List[str]:
    marked = [requirement for requirement in requirements if ";" in requirement]
    if marked:
        raise ValueError(f"pyproject.toml: build_backend.py takes no conditions in extras, as in {marked[0]!r}")
    return [
        f"Provides-Extra: {extra}",
        *(f"Requires-Dist: {requirement} ; extra == '{extra}'" for requirement in requirements),
    ]


def _dist_info() -> Tuple[str, List[File]]:
    project = _project()
    folder = f"{_distribution(project)}-{project['version']}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: build_backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return folder, [
        (f"{folder}/METADATA", _metadata(project)),
        (f"{folder}/WHEEL", wheel.encode()),
    ]


def _write_wheel(directory: Path, files: List[File]) -> str:
    folder, own = _dist_info()
    packed = [*files, *own]
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in packed) + f"{folder}/RECORD,,\n"
    name = f"{folder[: -len('.dist-info')]}-py3-none-any.whl"
    with zipfile.ZipFile(directory / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in [*packed, (f"{folder}/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return name


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
