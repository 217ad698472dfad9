"""Everything that the playground runs, as scripts; apart, because a report without it makes none.

Pages from the disk may load scripts, and nothing else.
"""

from __future__ import annotations

import ast
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
#: What the page calls.
_START = "tcformal.report.site.play"
#: Packages that the browser's Python lacks: a module that needs one is not among the sources.
_ABSENT = ("numpy", "llvmlite", "click", "rich", "jinja2")
#: A date for files in archives, so that two runs write the same bytes.
_DATE = (2020, 1, 1, 0, 0, 0)
#: Parts of the standard library that no trace needs.
_UNUSED = ("pydoc_data/", "unittest/", "ensurepip/", "idlelib/", "lib2to3/", "turtledemo/", "xml/", "turtle.",
           "_pydecimal.", "doctest.", "pdb.", "mailbox.", "imaplib.", "ftplib.", "smtplib.", "sqlite3/",
           "curses/", "tkinter/", "test/", "multiprocessing/", "distutils/", "wsgiref/", "xmlrpc/",
           "venv/", "_pyrepl/", "dbm/", "pydoc.", "tarfile.", "optparse.", "cProfile.", "pickletools.",
           "trace.", "bdb.", "plistlib.", "pstats.", "profile.", "socketserver.", "configparser.",
           "email/", "http/", "ctypes/", "_pyio.", "_pydatetime.", "argparse.", "statistics.", "ipaddress.",
           "platform.", "pickle.", "uuid.", "_strptime.", "calendar.", "gettext.", "mimetypes.", "csv.",
           "modulefinder.", "wave.", "pkgutil.", "pprint.", "compileall.", "poplib.", "zoneinfo/", "cmd.",
           "timeit.", "code.", "fileinput.", "runpy.", "tracemalloc.", "symtable.", "stringprep.", "urllib/",
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
        "play/module.js": script("module.js", module.encode()),
        "play/lock.js": f"globalThis.tcformalLock = {json.dumps(lock)};\n",
        "play/wasm.js": script("pyodide.asm.wasm", files["pyodide.asm.wasm"]),
        "play/library.js": script("python_stdlib.zip", _trimmed(files)),
        "play/tcformal.js": script("tcformal.zip", sources()),
    }


def script(name: str, content: bytes) -> str:
    """A script that hands over a file, compressed: five characters for four bytes, and their number."""
    data = gzip.compress(content, 9, mtime=0)
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
    """What the page runs of this package, as an archive that Python imports from; its root lists no names."""
    root = Path(__file__).parents[2]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path, content in sorted(_imported(root).items()):
            archive.writestr(zipfile.ZipInfo(str(path), _DATE), content)
    return made.getvalue()


def _imported(root: Path) -> dict[Path, bytes]:
    """The files that _START imports, at once or when a function asks, by their places in the archive."""
    made, wanted = {Path("tcformal", "__init__.py"): b""}, [_START]
    while wanted:
        name = wanted.pop()
        parts = name.split(".")
        place = next((x for x in (Path(*parts).with_suffix(".py"), Path(*parts, "__init__.py"))
                      if (root.parent / x).is_file()), None)  # fmt: skip
        if place is None or place in made:
            continue
        content = (root.parent / place).read_bytes()
        tree = ast.parse(content)
        if any(_needs_absent(node) for node in tree.body):
            continue
        made[place] = content
        wanted += [".".join(parts[:i]) for i in range(2, len(parts))]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tcformal."):
                wanted += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return made


def _needs_absent(node: ast.stmt) -> bool:
    """Whether a statement imports what the browser's Python lacks."""
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(name.partition(".")[0] in _ABSENT for name in names)
