from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from pypdfium2 import raw

from core.domain import TargetGroup
from kb.extract import GroupTerms, SourceDocument

SHARED = Path(__file__).parents[3] / "../shared/kb"

Text = tuple[float, float, float, str]
"""x, y, font size, text."""
MakePdf = Callable[[Sequence[Sequence[Text]]], bytes]
MakeDocument = Callable[..., SourceDocument]


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the source texts (../shared/kb) are not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def terms() -> GroupTerms:
    return GroupTerms(
        {
            TargetGroup.WOMEN: ["woman", "women", "girl"],
            TargetGroup.MIGRANTS: ["migrant", "refugee"],
            TargetGroup.DISABLED: ["persons with disabilities"],
            TargetGroup.LGBT: ["LGBT", "sexual orientation"],
        }
    )


@pytest.fixture(scope="session")
def make_pdf() -> MakePdf:
    return _pdf


@pytest.fixture
def make_document(tmp_path: Path) -> MakeDocument:
    def make(name: str, content: bytes, **fields: object) -> SourceDocument:
        path = tmp_path / name
        path.write_bytes(content)
        return SourceDocument.model_validate(
            {
                "id": name,
                "file": path,
                "title": f"About {name}",
                "institution": "Union of Zorblax",
                "symbol": name,
                "year": 2020,
                "url": "https://example.org/x",
                "language": "en",
                **fields,
            }
        )

    return make


def _pdf(pages: Sequence[Sequence[Text]]) -> bytes:
    document = pdfium.PdfDocument.new()
    for texts in pages:
        page = document.new_page(595, 842)
        for x, y, size, text in texts:
            item = raw.FPDFPageObj_NewTextObj(document, b"Helvetica", size)
            units = (text + "\0").encode("utf-16-le")
            raw.FPDFText_SetText(item, ctypes.cast(ctypes.create_string_buffer(units), raw.FPDF_WIDESTRING))
            raw.FPDFPageObj_Transform(item, 1, 0, 0, 1, x, y)
            raw.FPDFPage_InsertObject(page, item)
        page.gen_content()
        page.close()
    out = BytesIO()
    document.save(out)
    document.close()
    return out.getvalue()
