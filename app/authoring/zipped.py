"""A package as a zip: read in memory, with every bound checked before anything is unpacked, and nothing written.

Names need no guard of their own: the reader of packages knows all that may stand in one, and refuses the rest.
"""

import io
import stat
import zipfile
import zlib

from app.errors import BodyNotZip, PackageRefused

MAX_ZIP_BYTES = 2 << 20
_MAX_TEXT_BYTES = 4 << 20
_MAX_FILES = 500
# Text of people shrinks to a tenth or so. Only what is small may shrink more: a file of one repeated line.
_MAX_RATIO = 100
_SMALL_BYTES = 64 << 10
_LONGEST_NAME = 200
_MAX_FAULTS = 50
_ENCRYPTED = 0x1


def files_of(data: bytes) -> dict[str, str]:
    """The text of each file by its path. Line ends are those of a folder that was read: the version must not differ.

    Raises:
      BodyNotZip: it is none, or a damaged one.
      PackageRefused: it holds what no package may; nothing, or little, was unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = _bounded(archive)
            read = {each.filename: _read(archive, each) for each in entries}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise BodyNotZip(f"The body cannot be read as a zip: {error}. Make one with: zip -r package.zip .") from None
    return _decoded(read)


def refuse(faults: list[str]) -> PackageRefused:
    """Every fault in the detail, and in `faults`."""
    told = faults[:_MAX_FAULTS]
    if len(faults) > _MAX_FAULTS:
        told.append(f"and {len(faults) - _MAX_FAULTS} more")
    return PackageRefused("Mend this and send it again: " + "; ".join(told) + ".", faults=told)


def _bounded(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files of the archive, none of which is read yet. The sizes that it names bound what reading them gives."""
    entries = [each for each in archive.infolist() if not _is_left_out(each)]
    if len(entries) > _MAX_FILES:
        raise refuse([f"it holds {len(entries)} files, and a package at most {_MAX_FILES}"])
    total = sum(each.file_size for each in entries)
    if total > _MAX_TEXT_BYTES:
        raise refuse([f"its files have {total} bytes, and a package's at most {_MAX_TEXT_BYTES}"])
    names = [each.filename for each in entries]
    faults = [fault for each in entries if (fault := _fault(each))]
    faults += [f"{_shown(name)} is in it twice" for name in sorted({each for each in names if names.count(each) > 1})]
    if "problem.toml" not in names and any(name.endswith("/problem.toml") for name in names):
        faults.append("problem.toml lies in a folder: zip what is in that folder, not the folder (cd into it, zip -r)")
    if faults:
        raise refuse(faults)
    return entries


def _is_left_out(entry: zipfile.ZipInfo) -> bool:
    """As when a folder is read: folders tell nothing, and Python leaves its caches beside what it has run."""
    # Not `is_dir()`, which fails on an empty name: https://github.com/python/cpython/issues/98286
    return entry.filename.endswith("/") or "__pycache__" in entry.filename.split("/")


def _fault(entry: zipfile.ZipInfo) -> str | None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    name = _shown(entry.filename)
    if len(entry.filename) > _LONGEST_NAME:
        return f"the name {name} is too long"
    if kind not in (0, stat.S_IFREG):
        return f"{name} is not a plain file: links and devices are not followed"
    if entry.flag_bits & _ENCRYPTED:
        return f"{name} is encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"{name} is compressed in another way than by deflate"
    if entry.file_size > max(_SMALL_BYTES, _MAX_RATIO * entry.compress_size):
        return f"{name} grows more than {_MAX_RATIO}-fold when it is unpacked"
    return None


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as file:
        # Never more than the size that was counted, whatever lies in the archive; then the checksum is compared.
        return file.read(entry.file_size)


def _decoded(read: dict[str, bytes]) -> dict[str, str]:
    files: dict[str, str] = {}
    faults: list[str] = []
    for name, data in read.items():
        try:
            files[name] = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            faults.append(f"{_shown(name)} is not UTF-8 (byte {error.start})")
    if faults:
        raise refuse(faults)
    return files


def _shown(name: str) -> str:
    return repr(name[:_LONGEST_NAME])
