"""Read a scanned page with Tesseract."""

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
"""A larger picture is read at a lower resolution, so that one poster can't use up a worker's memory."""
PAGE_LIMIT_S = 120
_LATIN = (
    "af:afr az:aze bs:bos br:bre ca:cat co:cos cs:ces cy:cym da:dan de:deu en:eng eo:epo es:spa et:est eu:eus fi:fin "
    "fo:fao fr:fra fy:fry ga:gle gd:gla gl:glg hr:hrv ht:hat hu:hun id:ind is:isl it:ita jv:jav ku:kmr la:lat lb:ltz "
    "lt:lit lv:lav mi:mri ms:msa mt:mlt nl:nld no:nor nb:nor nn:nor oc:oci pl:pol pt:por qu:que ro:ron sk:slk sl:slv "
    "sq:sqi su:sun sv:swe sw:swa tl:fil to:ton tr:tur uz:uzb vi:vie yo:yor"
)
_OTHER = (
    "am:amh ar:ara as:asm be:bel bg:bul bn:ben bo:bod dv:div dz:dzo el:ell fa:fas gu:guj he:heb hi:hin hy:hye iu:iku "
    "ja:jpn ka:kat kk:kaz km:khm kn:kan ko:kor ky:kir lo:lao mk:mkd ml:mal mn:mon mr:mar my:mya ne:nep or:ori pa:pan "
    "ps:pus ru:rus sa:san sd:snd si:sin sr:srp ta:tam te:tel tg:tgk th:tha ti:tir tt:tat ug:uig uk:ukr ur:urd yi:yid "
    "zh:chi_sim"
)
_LATIN_PACKS, _OTHER_PACKS = (dict(pair.split(":") for pair in pairs.split()) for pairs in (_LATIN, _OTHER))
"""Tesseract's packs by ISO 639-1. A page read with a pack for another script becomes meaningless Latin letters."""
_ENGLISH = "eng"
_GET = (
    "Install Tesseract: Debian and Ubuntu `apt-get install tesseract-ocr tesseract-ocr-eng`, macOS "
    "`brew install tesseract`, Windows `winget install UB-Mannheim.TesseractOCR`; then run again."
)


class OcrFailed(Exception):
    """A picture that can't be read; the message says how to make it readable."""


@cache
def installed_packs() -> frozenset[str]:
    """Return the language packs of the installed Tesseract; none if it is not installed."""
    try:
        return frozenset(pytesseract.get_languages())
    except (pytesseract.TesseractNotFoundError, OSError):
        return frozenset()


def pack_for(language: str) -> tuple[str, str]:
    """Return the pack for a language, and a note if English stands in for a missing one; raises OcrFailed.

    An unknown language counts as English; a language in another script is never read as English.
    """
    packs = installed_packs()
    if not packs:
        raise OcrFailed(_GET)
    pack = {**_LATIN_PACKS, **_OTHER_PACKS}.get(language or "en")
    if pack is None:
        raise OcrFailed(f"Tesseract has no language pack for `{language}`. Add the document as text.")
    if pack in packs:
        return pack, ""
    get = f"Debian and Ubuntu: `apt-get install tesseract-ocr-{pack.replace('_', '-')}`; then run again."
    if language in _OTHER_PACKS or _ENGLISH not in packs:
        raise OcrFailed(f"Tesseract lacks the language pack `{pack}`. {get}")
    return _ENGLISH, f"Scanned pages were read as English, since Tesseract lacks the language pack `{pack}`. {get}"


def recognise(page: pdfium.PdfPage, pack: str) -> list[Line]:
    """Render a page and read its lines; raises OcrFailed if Tesseract is missing, fails or takes too long."""
    width, height = page.get_size()
    scale = min(DPI / 72, (MOST_PIXELS / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        return recognise_image(bitmap.to_pil(), pack, scale)
    finally:
        bitmap.close()


def recognise_image(image: Image, pack: str, scale: float = DPI / 72) -> list[Line]:
    """Read the lines of a picture with `scale` pixels per point; raises OcrFailed."""
    # Workers run in parallel; Tesseract's own threads would only compete for the cores.
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
        raise OcrFailed(_GET) from error
    except (pytesseract.TesseractError, RuntimeError) as error:
        raise OcrFailed(f"Tesseract gave up ({error}). Look at the page; a scan of 300 dpi reads best.") from error
    return _lines(cells, image.height, scale)


def _lines(cells: dict[str, list[int | str]], height: int, scale: float) -> list[Line]:
    """Group Tesseract's words into lines, in points with y growing upwards."""
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
        # A box's height depends on its letters, so it does not give the font's size.
        size=0.0,
    )
