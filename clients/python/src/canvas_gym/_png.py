"""Reads the server's PNG pictures: 8 bits a channel, RGB or RGBA, not interlaced. Left out: every other kind of PNG."""

from __future__ import annotations

import struct
import zlib
from typing import Any, Iterator, Tuple

import numpy as np

__all__ = ["decode_png"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}  # by the colour type of the header


def decode_png(png: bytes) -> Any:
    """Decode a picture to an array [height, width, 3] of uint8, what is transparent laid on white.

    Raises:
        ValueError: No PNG, or one of another kind.
    """
    if not png.startswith(SIGNATURE):
        raise ValueError("no PNG picture")
    chunks = list(_chunks(png))
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    if depth != 8 or colour not in CHANNELS or interlace:  # noqa: PLR2004
        raise ValueError(f"a PNG of depth {depth}, colour type {colour}, interlace {interlace} is not read here")
    data = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    channels = CHANNELS[colour]
    rows = np.frombuffer(data, np.uint8).reshape(height, 1 + width * channels)
    pixels = _unfilter(rows, channels).reshape(height, width, channels)
    return pixels if channels == 3 else _on_white(pixels)  # noqa: PLR2004


def _chunks(png: bytes) -> Iterator[Tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _unfilter(rows: Any, channels: int) -> Any:
    """Undo the filter that each row names in its first byte (PNG specification, section 9)."""
    out = np.empty((len(rows), rows.shape[1] - 1), np.uint8)
    above = np.zeros(out.shape[1], np.uint8)
    for i, row in enumerate(rows):
        if row[0] == 0:
            out[i] = row[1:]
        elif row[0] == 1:  # to the pixel on the left
            out[i] = np.cumsum(row[1:].reshape(-1, channels), axis=0, dtype=np.uint8).reshape(-1)
        elif row[0] == 2:  # noqa: PLR2004 -- to the pixel above
            out[i] = row[1:] + above
        else:
            raise ValueError(f"a PNG row of filter {row[0]} is not read here")
        above = out[i]
    return out


def _on_white(pixels: Any) -> Any:
    alpha = pixels[..., 3:].astype(np.uint16)
    mixed = pixels[..., :3] * alpha + 255 * (255 - alpha)
    return ((mixed + 127) // 255).astype(np.uint8)
