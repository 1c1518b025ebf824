"""Records: append-only files of JSON lines, one line a run. Experiments write them, figures and claims read them."""

import json
import lzma
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class Records:
    """The records of one file. A last line that a killed process left unfinished is cut off when the file is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            written = path.read_bytes()
            whole = written[: written.rfind(b"\n") + 1]
            if len(whole) < len(written):
                with path.open("r+b") as file:
                    file.truncate(len(whole))

    def __iter__(self) -> Iterator[Record]:
        if self.path.exists():
            with self.path.open(encoding="utf-8") as lines:
                yield from (json.loads(line) for line in lines)

    def keys(self) -> set[str]:
        """The keys of the runs that are done."""
        return {record["key"] for record in self}

    def append(self, *records: Record) -> None:
        """Add the records, all safely on disk when this returns."""
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(record, sort_keys=True, allow_nan=False) + "\n" for record in records)
            file.flush()
            os.fsync(file.fileno())


def pack(source: Path, target: Path) -> None:
    """The records in the order of their keys, compressed; the same records give the same bytes."""
    lines = sorted(source.read_text(encoding="utf-8").splitlines(), key=lambda line: json.loads(line)["key"])
    text = "\n".join([*lines, ""]).encode()
    if target.exists() and lzma.decompress(target.read_bytes()) == text:  # compressing takes a hundred times as long
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(lzma.compress(text, preset=9))


def resume(packed: Path, path: Path) -> None:
    """Write packed records to `path`, unless it has records of its own, so that new runs are added to the kept ones."""
    if packed.exists() and not path.exists():
        Records(path).append(*unpack(packed))


def unpack(source: Path) -> list[Record]:
    """The records of a compressed file."""
    return [json.loads(line) for line in lzma.decompress(source.read_bytes()).decode().splitlines()]
