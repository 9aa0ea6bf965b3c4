"""Read a page that is a picture, with Tesseract."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

import pytesseract

from kb.extract.lines import Line

if TYPE_CHECKING:
    import pypdfium2 as pdfium
    from PIL.Image import Image

DPI = 300
MOST_PIXELS = 40_000_000
"""A larger picture is read at a lower resolution, so that one poster can't eat a worker's memory."""
PAGE_LIMIT_S = 120
_PACKS = {
    "en": "eng",
    "es": "spa",
    "fr": "fra",
    "it": "ita",
    "de": "deu",
    "pt": "por",
    "nl": "nld",
    "eu": "eus",
    "ca": "cat",
    "gl": "glg",
    "pl": "pol",
    "ru": "rus",
    "ar": "ara",
    "zh": "chi_sim",
}
_GET = (
    "Install Tesseract: Debian and Ubuntu `apt-get install tesseract-ocr tesseract-ocr-eng`, macOS "
    "`brew install tesseract`, Windows `winget install UB-Mannheim.TesseractOCR`; then run again."
)


class NoOcr(Exception):
    """Say that a picture can't be read, and how it can."""


@cache
def installed_packs() -> frozenset[str]:
    """Return the language packs of the installed Tesseract; empty when the program is absent."""
    try:
        return frozenset(pytesseract.get_languages())
    except (pytesseract.TesseractNotFoundError, OSError):
        return frozenset()


def recognise(page: pdfium.PdfPage, language: str) -> list[Line]:
    """Render a page and read its lines; raises NoOcr when Tesseract is absent, too old or out of time."""
    width, height = page.get_size()
    scale = min(DPI / 72, (MOST_PIXELS / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        return recognise_image(bitmap.to_pil(), language, scale)
    finally:
        bitmap.close()


def recognise_image(image: Image, language: str, scale: float = DPI / 72) -> list[Line]:
    """Read the lines of a picture with `scale` pixels a point; raises NoOcr."""
    pack = _pack(language)
    # Workers run side by side; Tesseract's own threads would only fight over the cores.
    os.environ["OMP_THREAD_LIMIT"] = "1"
    try:
        cells = pytesseract.image_to_data(
            image,
            lang=pack,
            timeout=PAGE_LIMIT_S,
            config=f"--dpi {round(scale * 72)}",
            output_type=pytesseract.Output.DICT,
        )
    except pytesseract.TesseractNotFoundError as error:
        raise NoOcr(_GET) from error
    except (pytesseract.TesseractError, RuntimeError) as error:
        raise NoOcr(f"Tesseract gave up ({error}). Look at the page; a scan of 300 dpi reads best.") from error
    return _lines(cells, image.height, scale)


def _pack(language: str) -> str:
    packs = installed_packs()
    if not packs:
        raise NoOcr(_GET)
    wanted = _PACKS.get(language, "eng")
    for pack in (wanted, "eng"):
        if pack in packs:
            return pack
    raise NoOcr(
        f"Tesseract has no language pack `{wanted}`. Debian and Ubuntu: `apt-get install "
        f"tesseract-ocr-{wanted.replace('_', '-')}`; then run again."
    )


def _lines(cells: dict[str, list[int | str]], height: int, scale: float) -> list[Line]:
    """Gather Tesseract's words into lines, in points with y growing upwards."""
    rows: dict[tuple[object, ...], list[int]] = {}
    for index, text in enumerate(cells["text"]):
        if str(text).strip() and float(cells["conf"][index]) >= 0:
            rows.setdefault(tuple(cells[key][index] for key in ("block_num", "par_num", "line_num")), []).append(index)
    return [_line(cells, row, height, scale) for row in rows.values()]


def _line(cells: dict[str, list[int | str]], row: list[int], height: int, scale: float) -> Line:
    boxes = [[int(cells[key][index]) for key in ("left", "top", "width", "height")] for index in row]
    return Line(
        text=" ".join(str(cells["text"][index]) for index in row),
        left=min(box[0] for box in boxes) / scale,
        right=max(box[0] + box[2] for box in boxes) / scale,
        top=(height - min(box[1] for box in boxes)) / scale,
        bottom=(height - max(box[1] + box[3] for box in boxes)) / scale,
        # A box's height depends on the letters in it, so it says nothing about the size of the type.
        size=0.0,
    )
