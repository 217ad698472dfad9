"""Everything that the playground runs, as scripts; apart, because a report without it makes none.

Pages from the disk may load scripts, and nothing else.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

from tcformal.errors import InputError

#: Files of Pyodide's package that the page needs.
_NEEDED = ("pyodide.js", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
#: The package, without its commands, solvers and devices: the rest of what a trace needs is found among it.
_LEFT_OUT = ("cli", "solve", "store", "devices", "identification", "theory", "torch", "independent")
#: A date for files in archives, so that two runs write the same bytes.
_DATE = (2020, 1, 1, 0, 0, 0)
#: Parts of the standard library that no trace needs.
_UNUSED = ("pydoc_data/", "unittest/", "ensurepip/", "idlelib/", "lib2to3/", "turtledemo/", "xml/", "turtle.",
           "_pydecimal.", "doctest.", "pdb.", "mailbox.", "imaplib.", "ftplib.", "smtplib.", "sqlite3/",
           "curses/", "tkinter/", "test/", "multiprocessing/", "distutils/", "wsgiref/", "xmlrpc/",
           "venv/", "_pyrepl/", "dbm/", "pydoc.", "tarfile.", "optparse.", "cProfile.", "pickletools.",
           "trace.", "bdb.", "plistlib.", "pstats.", "profile.", "socketserver.", "configparser.",
           )  # fmt: skip
#: The encodings of text that Python needs to start; all others are left out.
_ENCODINGS = ("__init__", "aliases", "ascii", "cp437", "idna", "latin_1", "utf_8", "utf_8_sig", "punycode",
              "raw_unicode_escape", "unicode_escape", "utf_16", "utf_32", "charmap", "hex_codec")  # fmt: skip


def scripts(pyodide: Path) -> dict[str, str]:
    """The scripts of the playground by file name.

    Errors: InputError where `pyodide` is neither the folder nor the archive of Pyodide's npm package.
    """
    files = _files(pyodide)
    module = files["pyodide.asm.mjs"].decode()
    if module.count("export default") != 1:
        raise InputError(f"expected one module in pyodide.asm.mjs of {pyodide}, but found another form")
    # A module cannot be loaded from the disk: the same text as a plain script.
    module = module.replace("export default", "globalThis.tcformalModule =")
    module = module.replace("import.meta.url", "document.baseURI")
    lock = json.loads(files["pyodide-lock.json"]) | {"packages": {}}
    return {
        "play/pyodide.js": files["pyodide.js"].decode().partition("\n//# sourceMappingURL")[0],
        "play/module.js": _script("module.js", gzip.compress(module.encode(), 9, mtime=0)),
        "play/lock.js": f"globalThis.tcformalLock = {json.dumps(lock)};\n",
        "play/wasm.js": _script("pyodide.asm.wasm", gzip.compress(files["pyodide.asm.wasm"], 9, mtime=0)),
        "play/library.js": _script("python_stdlib.zip", gzip.compress(_trimmed(files), 9, mtime=0)),
        "play/tcformal.js": _script("tcformal.zip", gzip.compress(sources(), 9, mtime=0)),
    }


def _script(name: str, data: bytes) -> str:
    """A script that hands over a compressed file: five characters for four bytes, and the number of bytes."""
    return f'tcformalFile("{name}", "{base64.b85encode(data, pad=True).decode()}", {len(data)});\n'


def _files(pyodide: Path) -> dict[str, bytes]:
    """The needed files of Pyodide's package, from its folder or its archive."""
    found = {}
    try:
        if pyodide.is_dir():
            folder = pyodide if (pyodide / _NEEDED[0]).exists() else pyodide / "package"
            found = {name: (folder / name).read_bytes() for name in _NEEDED if (folder / name).exists()}
        else:
            with tarfile.open(pyodide) as archive:
                for name in _NEEDED:
                    held = archive.extractfile(f"package/{name}")
                    found[name] = b"" if held is None else held.read()
    except (OSError, KeyError, tarfile.TarError) as error:
        raise InputError(f"expected Pyodide's npm package at {pyodide}, but got: {error}") from error
    lacking = [name for name in _NEEDED if not found.get(name)]
    if lacking:
        raise InputError(f"expected {', '.join(lacking)} of Pyodide's npm package in {pyodide}")
    return found


def _trimmed(files: dict[str, bytes]) -> bytes:
    """The standard library without what no trace needs, stored: it is compressed as a whole."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(files["python_stdlib.zip"])) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            folder, _, rest = name.partition("/")
            unused = folder == "encodings" and rest.partition(".")[0] not in _ENCODINGS
            if not unused and not name.startswith(_UNUSED):
                new.writestr(zipfile.ZipInfo(name, _DATE), old.read(name))
    return made.getvalue()


def sources() -> bytes:
    """The package's own sources as an archive that Python imports from; its root lists no names."""
    root = Path(__file__).parents[2]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).parts
            if parts[0].removesuffix(".py") not in _LEFT_OUT:
                content = b"" if path.parent == root and path.name == "__init__.py" else path.read_bytes()
                archive.writestr(zipfile.ZipInfo(str(Path("tcformal", *parts)), _DATE), content)
    return made.getvalue()
