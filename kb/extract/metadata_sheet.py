"""Read a metadata sheet: the citations of files that somebody adds by hand."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.errors import BadInput, describe_errors
from kb.extract.documents import SourceDocument
from kb.extract.formats import SUFFIXES
from kb.extract.passages import tidy
from kb.extract.web import decoded

COLUMNS = "file, title, institution, symbol, year, url, groups, language"
_TABLE = "document"


def documents_of(paths: Iterable[Path], sheet: Path) -> list[SourceDocument]:
    """Pair files, and the readable files in folders, with their rows in a CSV, JSON, JSON Lines or TOML sheet.

    A row names its file by a path relative to the sheet's folder, or by its bare name. A missing `symbol` is replaced
    by the title, a missing `id` by the symbol. Raises BadInput for a sheet that can't be read, an incomplete row, and a
    file without a row.
    """
    documents = [_document(number, row, sheet) for number, row in enumerate(_rows(sheet), start=1)]
    _refuse_repeated(documents, sheet)
    files = sorted({file for path in paths for file in _files(path)} - {sheet.resolve()})
    if missing := [file.name for file in files if _row_of(file, documents) is None]:
        raise BadInput(
            f"{sheet} has no row for {', '.join(missing[:10])}. Add one with {COLUMNS}: evidence that can't "
            "be cited is of no use."
        )
    return [row.model_copy(update={"file": file}) for file in files if (row := _row_of(file, documents))]


def _files(path: Path) -> Iterable[Path]:
    if path.is_dir():
        return [file.resolve() for file in path.rglob("*") if file.is_file() and file.suffix.casefold() in SUFFIXES]
    if not path.is_file():
        raise BadInput(f"There is no file {path}. Check the path.")
    return [path.resolve()]


def _row_of(file: Path, documents: Sequence[SourceDocument]) -> SourceDocument | None:
    exact = next((row for row in documents if row.file.resolve() == file), None)
    return exact or next((row for row in documents if row.file.name == file.name and not row.file.exists()), None)


def _rows(sheet: Path) -> list[Mapping[str, Any]]:
    try:
        text = decoded(sheet.read_bytes())
        rows = _PARSERS[sheet.suffix.casefold()](text)
    except OSError as error:
        raise BadInput(f"The sheet {sheet} can't be read: {error.strerror}. Check the path.") from error
    except KeyError as error:
        raise BadInput(f"The sheet {sheet} is none of {', '.join(_PARSERS)}. Save it as one of these.") from error
    except (ValueError, csv.Error) as error:
        raise BadInput(f"The sheet {sheet} is torn: {error}. Correct that place.") from error
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"The sheet {sheet} holds no rows. It needs {COLUMNS}; in TOML as [[{_TABLE}]] tables.")
    return rows


def _document(number: int, row: Mapping[str, Any], sheet: Path) -> SourceDocument:
    fields = {name.strip().casefold(): value for name, value in row.items() if name and value not in (None, "", [])}
    if file := fields.get("file"):
        fields["file"] = sheet.parent / str(file)
    fields.setdefault("symbol", fields.get("title"))
    fields.setdefault("id", fields.get("symbol"))
    try:
        return SourceDocument.model_validate(fields)
    except ValidationError as error:
        complaints = describe_errors(error, "the document")
        raise BadInput(f"{sheet}, row {number}, {complaints}. The columns: {COLUMNS}.") from error


def _refuse_repeated(documents: Sequence[SourceDocument], sheet: Path) -> None:
    files_by_id: dict[str, Path] = {}
    for document in documents:
        if document.id in files_by_id:
            raise BadInput(
                f"{sheet}: {files_by_id[document.id].name} and {document.file.name} are both '{document.id}'. Give "
                "each its own symbol, or an `id`."
            )
        files_by_id[document.id] = document.file


def _from_csv(text: str) -> list[dict[str, Any]]:
    separator = max(",;\t", key=text.partition("\n")[0].count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    return [{name: _cell(name, value) for name, value in row.items()} for row in rows]


def _cell(name: str | None, value: Any) -> Any:
    """Join a cell's lines into one, as they show in a spreadsheet; leave a file's name unchanged."""
    return tidy(value) if isinstance(value, str) and (name or "").strip().casefold() != "file" else value


def _from_json(text: str) -> Any:
    data = json.loads(text)
    return data.get(f"{_TABLE}s") if isinstance(data, dict) else data


def _from_json_lines(text: str) -> Any:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _from_toml(text: str) -> Any:
    return tomllib.loads(text).get(_TABLE)


_PARSERS = {".csv": _from_csv, ".tsv": _from_csv, ".json": _from_json, ".jsonl": _from_json_lines, ".toml": _from_toml}
