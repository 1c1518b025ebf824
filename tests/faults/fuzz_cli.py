"""Coverage-guided fuzzing of what the command line reads: parameters, printed values, tables. `make fuzz` runs it for a minute.

Whatever comes, there is a result or one of the library's own errors; anything else ends the run with the input that did it.
"""

import csv
import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

RECORDS = Path(__file__).parents[2] / "out" / "faults.jsonl"
SPACE = {"x": (0.0, 1.0), "k": (1, 5), "c": ["a", "=b", None]}


def main(seconds: int) -> None:
    """Fuzz for so many seconds, and write down how many inputs were tried."""
    import atheris

    with atheris.instrument_imports(include=["satisfice.cli", "satisfice.command.value", "satisfice.study"]):
        from satisfice.cli.params import read_params
        from satisfice.command.value import CommandFailed, read_value
        from satisfice.domain.space import Space
        from satisfice.errors import BadInput
        from satisfice.study.warm_start import _params, _rows, _value

    space, tried = Space.of(SPACE), {"parameters": 0, "printed values": 0, "tables": 0}
    folder = TemporaryDirectory()
    table = Path(folder.name) / "t.csv"

    def once(data: bytes) -> None:
        if time.monotonic() > until:
            end()
        which, rest = data[:1], data[1:]
        try:
            if which < b"\x55":
                tried["parameters"] += 1
                Space.of(read_params(rest.decode("utf-8", "surrogateescape").split("\0")))
            elif which < b"\xaa":
                tried["printed values"] += 1
                value = read_value(rest, "key" if len(rest) % 2 else None).value
                assert value - value == 0, value
            else:
                tried["tables"] += 1
                table.write_bytes(b"x,k,c,value\n" + rest)
                for number, row in enumerate(_rows(table)):
                    _params(row, space, number)
                    _value(row, number)
        except (BadInput, CommandFailed, csv.Error):
            return

    def end() -> None:
        RECORDS.parent.mkdir(exist_ok=True)
        with RECORDS.open("a") as file:
            line = {"test": "fuzz", "outcome": "passed", "seconds": seconds, "figures": {**tried, "crashes": 0}}
            file.write(json.dumps(line) + "\n")
        print(f"{seconds} s without a crash: {tried}", flush=True)
        os._exit(0)  # the fuzzer itself would end without a word

    atheris.Setup([sys.argv[0], "-max_len=400", "-verbosity=0"], once)
    until = time.monotonic() + seconds
    atheris.Fuzz()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
