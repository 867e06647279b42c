"""Check that a folder has not changed: packages, seals, journals, and every file they list.

Nothing is trusted but hashes: names in lists may lead anywhere, so only plain files inside the folder count.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deshred.cases import JOURNAL, Folder, Journal, open_case
from deshred.errors import InputError, IntegrityError, MissingDependencyError
from deshred.executors import Progress
from deshred.export.bags import DECLARATION, MANIFEST, PAYLOAD, TAG_MANIFEST, seal
from deshred.export.names import clean, clean_cell
from deshred.export.pdf import import_pikepdf
from deshred.export.records import RECORD
from deshred.export.repeating import recall_case, recall_record
from deshred.export.repeating import repeat as repeat_run
from deshred.imaging.scans import hash_file
from deshred.textfiles import parse_json

_MOST_RECORD = 256 << 20  # bytes
_ENTRY = re.compile(r"([0-9a-f]{64})  (\S.*)")


@dataclass(frozen=True)
class Finding:
    """One check: what was looked at, whether it is as it was, and if not, what is wrong."""

    check: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Verification:
    """All checks of a folder."""

    folder: Path
    findings: tuple[Finding, ...]

    @property
    def is_sound(self) -> bool:
        return all(finding.passed for finding in self.findings)

    def require(self) -> None:
        """Raise an IntegrityError that names the first thing that is wrong."""
        for finding in self.findings:
            if not finding.passed:
                raise IntegrityError(f"{self.folder}: {finding.check}: {finding.detail}")

    def to_text(self) -> str:
        """Lines to print."""
        lines = [f"{'ok    ' if one.passed else 'FAILED'} {one.check}: {one.detail}" for one in self.findings]
        return "\n".join([*lines, "Everything is as it was." if self.is_sound else "Something has changed."])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"sound": self.is_sound, "findings": [asdict(finding) for finding in self.findings]}


def verify(
    folder: str | Path,
    *,
    head: str | None = None,
    sealed: str | None = None,
    inputs: Iterable[Path] = (),
    repeat: bool = False,
    progress: Progress | None = None,
) -> Verification:
    """Check a case, an export or a package; `head` and `sealed` are hashes that were written down.

    With `repeat` the scans are reconstructed again: those of a case from where they are, those of an
    export from `inputs`.
    """
    folder = Path(folder)
    findings: list[Finding] = []
    journal_there = (folder / JOURNAL).is_file()
    bag = _find_bag(folder)
    if not journal_there and bag is None:
        raise InputError(
            f"{folder}: holds neither a journal nor a package. Give a case, an export or a package."
        )
    if journal_there or head is not None:
        findings += _check_journal(Folder(folder), head)
    if bag is not None:
        findings += _check_bag(Folder(bag), sealed)
    elif sealed is not None:
        findings.append(Finding("seal", False, "there is no package to compare it with"))
    inputs = list(inputs)
    if inputs:
        findings.append(_check_inputs(Folder(folder), Folder(bag) if bag else None, inputs))
    findings += _check_contents(Folder(bag or folder))
    if repeat:
        findings += _check_again(folder, Folder(bag or folder), inputs, progress)
    return Verification(folder, tuple(findings))


def _find_bag(folder: Path) -> Path | None:
    for place in (folder, folder / "bag"):
        if any((place / name).exists() for name in (DECLARATION, MANIFEST, TAG_MANIFEST)):
            return place
    return None


def _check_journal(folder: Folder, head: str | None) -> Iterator[Finding]:
    journal = Journal(folder, JOURNAL)
    found = journal.check(head)
    told = "; ".join(found.problems) or f"{found.entries} lines, head {found.head}"
    yield Finding(
        "journal", found.is_sound and found.entries > 0, told if found.entries else "it is empty or gone"
    )
    listed: dict[str, str] = {}
    for entry in journal.read():
        files = entry.fields.get("files")
        if isinstance(files, Mapping):
            listed = {
                **(listed if entry.event == "wrote" else {}),
                **{str(k): str(v) for k, v in files.items()},
            }
    yield _compare("files of the journal", folder, listed)


def _check_bag(folder: Folder, sealed: str | None) -> Iterator[Finding]:
    missing = [name for name in (DECLARATION, MANIFEST, TAG_MANIFEST) if not folder.exists(name)]
    yield Finding("package", not missing, f"{missing[0]} is missing" if missing else "its lists are there")
    found = "none" if missing else seal(folder.path)
    if sealed is None:
        yield Finding("seal", not missing, f"{found}; compare it with the one that was written down")
    else:
        sealed = sealed.strip().lower()
        same = found == sealed
        cut = "" if len(sealed) == len(found) else f", which does not have all {len(found)} digits"
        yield Finding("seal", same, found if same else f"is {found}, not {clean(sealed)}{cut}")
    yield _check_list("lists of the package", folder, TAG_MANIFEST)
    yield _check_list("files of the package", folder, MANIFEST)
    listed = _read_list(folder, MANIFEST)
    extra = sorted(set(folder.names(PAYLOAD)) - set(listed))
    told = f"{clean(extra[0])} is not listed" if extra else "no files that are not listed"
    yield Finding("nothing added", not extra, told)


def _check_list(check: str, folder: Folder, name: str) -> Finding:
    try:
        content = folder.read_bytes(name).decode()
    except (InputError, UnicodeDecodeError) as error:
        return Finding(check, False, f"{name} cannot be read ({clean(str(error))})")
    for number, line in enumerate(content.splitlines(), 1):
        if not _ENTRY.fullmatch(line):
            return Finding(check, False, f"{name}: line {number} is not a hash and a name")
    return _compare(check, folder, _read_list(folder, name))


def _read_list(folder: Folder, name: str) -> dict[str, str]:
    if not folder.exists(name):
        return {}
    lines = folder.read_bytes(name).decode("utf-8", "replace").splitlines()
    found = (_ENTRY.fullmatch(line) for line in lines)
    return {entry[2]: entry[1] for entry in found if entry}


def _compare(check: str, folder: Folder, listed: Mapping[str, str]) -> Finding:
    """Every file that is listed, with the hash that is listed."""
    for name, digest in listed.items():
        if not folder.exists(name):
            return Finding(check, False, f"{clean(name)} is missing")
        if folder.hash_file(name) != digest:
            return Finding(check, False, f"{clean(name)} has changed")
    return Finding(check, True, f"{len(listed)} files are as they were")


def _check_inputs(folder: Folder, bag: Folder | None, inputs: list[Path]) -> Finding:
    """Whether the given scans are those that the record names."""
    record = _read_record(bag or folder)
    if record is None:
        return Finding("scans", False, f"there is no {RECORD} to compare them with. Export with --as json.")
    try:
        wanted = {str(entry["sha256"]): str(entry["name"]) for entry in record["inputs"]}
    except (KeyError, TypeError):
        return Finding("scans", False, f"{RECORD} is damaged")
    files = [file for path in inputs for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    found = {hash_file(file) for file in files if file.is_file()}
    lost = sorted(clean(name) for digest, name in wanted.items() if digest not in found)
    return Finding(
        "scans", not lost, f"{lost[0]} is not among them" if lost else f"all {len(wanted)} are there"
    )


def _read_record(folder: Folder) -> dict[str, Any] | None:
    for name in (RECORD, f"{PAYLOAD}/{RECORD}"):
        if folder.exists(name):
            try:
                content = parse_json(folder.read_bytes(name, most_bytes=_MOST_RECORD), name)
                return content if isinstance(content, dict) else None
            except InputError:
                return None
    return None


def _check_contents(folder: Folder) -> Iterator[Finding]:
    """What only makes sense together: tables that tell the same, PDFs that are still PDF/A."""
    record = _read_record(folder)
    tables = [name for name in folder.names() if name.endswith("csv/joins.csv")]
    if record is not None and tables:
        yield _compare_joins(record, folder.read_bytes(tables[0]))
    documents = [name for name in folder.names() if name.endswith(".pdf") and not name.startswith("inputs/")]
    documents = [name for name in documents if "/inputs/" not in name]
    if documents:
        yield _check_documents(folder, documents)


def _compare_joins(record: dict[str, Any], table: bytes) -> Finding:
    rows = csv.DictReader(io.StringIO(table.decode("utf-8-sig", "replace"), newline=""))
    told = [(row.get("left"), row.get("right"), row.get("verdict")) for row in rows]
    try:
        wanted = [
            (clean_cell(join["left"]), clean_cell(join["right"]), join["verdict"])
            for page in record["pages"]
            for join in page["joins"]
        ]
    except (KeyError, TypeError, AttributeError):
        return Finding("joins", False, f"{RECORD} is damaged")
    same = told == wanted
    return Finding("joins", same, f"{len(wanted)} in record and table" if same else "record and table differ")


def _check_documents(folder: Folder, names: list[str]) -> Finding:
    try:
        pikepdf = import_pikepdf()
    except MissingDependencyError as error:
        return Finding("PDF/A", True, f"not checked: {error}")
    for name in names:
        if not _is_pdfa(folder.read_bytes(name), pikepdf):
            return Finding("PDF/A", False, f"{clean(name)} is not PDF/A")
    return Finding("PDF/A", True, f"{len(names)} approved")


def _is_pdfa(content: bytes, pikepdf: Any) -> bool:
    try:
        reports = [pikepdf.pdfa.validate_written(io.BytesIO(content), flavor) for flavor in ("2b", "3b")]
    except Exception:  # a checker may stumble over what is no PDF at all, in ways of its own
        return False
    return any(report.passed for report in reports)


def _check_again(
    path: Path, folder: Folder, scans: list[Path], progress: Progress | None
) -> Iterator[Finding]:
    """Whether a new run on the same scans gives the same."""
    record = _read_record(folder)
    told = recall_case(open_case(path)) if record is None else recall_record(record, scans)
    again = repeat_run(told, progress=progress)
    for check, differs in (("order", again.order), ("offsets", again.offsets), ("pixels", again.pixels)):
        yield Finding(f"{check} of a new run", not differs, differs or f"the same on {len(told.pages)} pages")
