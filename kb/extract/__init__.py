"""Turn documents into paragraphs: readers by format, structure, folding of repetitions, and runs over many files."""

from kb.extract.documents import SourceDocument
from kb.extract.harvest import Harvest
from kb.extract.run import DocumentProblem, ExtractionReport, Limits, extract_documents
from kb.extract.subjects import GroupTerms

__all__ = [
    "DocumentProblem",
    "ExtractionReport",
    "GroupTerms",
    "Harvest",
    "Limits",
    "SourceDocument",
    "extract_documents",
]
