"""CSV as it comes: a declared policy for everything that can be wrong with it, the same for every record.

- A byte order mark decides the encoding, otherwise it is UTF-8 unless declared. Bytes that do not fit are refused: two
  letters must not become one. Where nothing was declared, the refusal says which encoding it probably is.
- The header is the first record. The separator is the one of , ; tab | that makes it contain the columns asked for.
- Every field is text. Quoted fields may contain separators and line ends.
- A record with too many or too few fields stays in its place, with every cell missing: one record in, one record out.
- Blank lines are not records, except where there is only one column: there they are missing cells.
- A quote that is never closed, or a record of more than 8 MB, is no table: nothing is released.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from discreet.exceptions import AlphabetError, InOwnWords, TableError
from discreet.records.first_line import is_header

BLOCK_BYTES: Final = 1 << 23
"""A block must hold a whole record; this is more than any cell of a spreadsheet, and few blocks fit into memory."""
SEPARATORS: Final = (",", ";", "\t", "|")
MARKS: Final = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""The mark of UTF-32 begins like that of UTF-16."""
_LETTERS: Final = pa.dictionary(pa.int32(), pa.binary())
FIRST_RECORD: Final = re.compile(
    rb'(?:[^"\r\n]++|(?<=[^,;\t|])"|(?<![^,;\t|])"(?:[^"]++|"")*+")*+(?:\r\n|\n|\r(?=[^\n]))'
)
"""Up to the first line end outside quotes, which are opened where a field begins and nowhere else; a carriage return
only where the byte after it is known."""
NO_CHARACTERS: Final = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")
"""Encodings of names and of program text: they raise on some bytes, or read a backslash as something else."""
SAMPLE_BYTES: Final = 1 << 20
"""A block where only the first records are wanted: most of a large one would be read for nothing."""
LOOKED_AT: Final = 1 << 16
"""Bytes after the first record that are held against it."""
Octets = bytes | memoryview
FITS: Final = "Recode the file to UTF-8; without a byte order mark, encoding=latin-1 has a character for every byte."
WHOLE: Final = "Open it in an editor: a quote is probably opened and not closed."


class CsvRecords:
    """The records of a CSV stream: `letters` as dictionaries of bytes, `plain` as bytes.

    Where the order does not matter, reading is faster. A `sample` is for the first records only.
    """

    def __init__(
        self,
        stream: BinaryIO,
        letters: Sequence[str],
        plain: Sequence[str],
        encoding: str | None = None,
        *,
        optional: Sequence[str] = (),
        in_order: bool = True,
        sample: bool = False,
    ) -> None:
        self._block = SAMPLE_BYTES if sample else BLOCK_BYTES
        self._text = _Utf8(stream, encoding)
        record = self._text.first_record()
        self._names, self._separator = _header(record, [*letters, *plain], self._text.next_records)
        coded = [*letters, *there(optional, self._names)]
        wanted = dict.fromkeys((*coded, *plain))
        self.schema = pa.schema([(name, _LETTERS if name in coded else pa.binary()) for name in wanted])
        self._in_order = in_order
        self._ragged: list[int] = []
        self._row = self._added = 0
        self.unreadable = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        fields = [str(self._names.index(name)) for name in self.schema.names]
        end = secrets.token_hex(16)
        self._text.finish_with((self._separator.join([end] * len(self._names)) + "\n").encode())
        try:
            reader = pacsv.open_csv(
                pa.PythonFile(self._text, mode="r"),
                read_options=pacsv.ReadOptions(
                    use_threads=not self._in_order,
                    block_size=self._block,
                    column_names=[str(i) for i in range(len(self._names))],
                ),
                parse_options=pacsv.ParseOptions(
                    delimiter=self._separator,
                    newlines_in_values=True,
                    ignore_empty_lines=len(self._names) > 1,
                    invalid_row_handler=self._on_ragged,
                ),
                convert_options=pacsv.ConvertOptions(
                    check_utf8=False,
                    include_columns=fields,
                    column_types=dict(zip(fields, self.schema.types, strict=True)),
                    strings_can_be_null=False,
                ),
            )
            yield from self._checked(reader, end.encode())
        except pa.ArrowInvalid:
            what = f"a record is longer than {self._block >> 20} MB, or its quotes do not match"
            raise TableError(what, where=f"after row {self._row}", remedy=WHOLE) from None

    def _checked(self, reader: Iterator[pa.RecordBatch], end: bytes) -> Iterator[pa.RecordBatch]:
        """Every batch one later than it is read, so that the last record can be checked and taken away."""
        held: pa.RecordBatch | None = None
        for batch in reader:
            if held is not None and len(batch):
                yield self._with_ragged(held)
            held = batch.rename_columns(self.schema.names) if len(batch) or held is None else held
        if held is None or not len(held) or any(column[-1].as_py() != end for column in held.columns):
            raise TableError("a quote is opened and not closed", where=f"after row {self._row}", remedy=WHOLE)
        yield self._with_ragged(held).slice(0, len(held) + self._added - 1)

    def _on_ragged(self, row: pacsv.InvalidRow) -> str:
        """Its place is known only when one thread reads; where the order does not matter, it goes anywhere."""
        self._ragged.append(row.number - 1 if self._in_order else 0)
        return "skip"

    def _with_ragged(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with an empty record wherever one could not be read."""
        first, size = self._row, len(batch)
        places: list[int] = []
        while self._ragged and self._ragged[0] - first - len(places) < size:
            places.append(max(0, self._ragged.pop(0) - first - len(places)))
        self._added = len(places)
        self.unreadable += len(places)
        self._row += size + len(places)
        if not places:
            return batch
        rows = np.insert(np.arange(size), places, -1)
        return batch.take(pa.array(rows, mask=rows < 0))


class _Utf8(io.RawIOBase):
    """A byte stream as UTF-8, its byte order mark read and dropped, with an ending of our own."""

    def __init__(self, stream: BinaryIO, encoding: str | None) -> None:
        self._stream, self._ending, self._last = stream, b"", b"\n"
        start = bytes(filled(stream, 4))
        mark = next((mark for mark in MARKS if start.startswith(mark)), b"")
        name = MARKS[mark] if mark else encoding or "utf-8"
        known = "Known are utf-8, latin-1, cp1252 …"
        with InOwnWords(lambda _: TableError("an unknown encoding", where=name, remedy=known), LookupError, ValueError):
            found = codecs.lookup(name)
            self._ascii_as_is = found.name in ("utf-8", "ascii")
            if not found._is_text_encoding or found.incrementaldecoder is None or found.name in NO_CHARACTERS:
                raise LookupError  # hex, base64, rot13 …
            self._decoder = found.incrementaldecoder("strict")
        self._name = name if mark or encoding else ""
        self._ahead = self._utf8(start[len(mark) :])

    def _utf8(self, data: Octets, final: bool = False) -> Octets:
        """UTF-8 whatever came in: pyarrow shows bytes to the user where a record is ragged."""
        if self._ascii_as_is and not self._decoder.getstate()[0] and np.frombuffer(data, np.uint8).max(initial=0) < 128:
            return data
        try:
            return self._decoder.decode(data, final).encode()
        except UnicodeError as error:
            remedy = FITS if self._name else _remedy(bytes(getattr(error, "object", b"")))
        what = f"bytes that do not fit the encoding {self._name}" if self._name else "bytes that are not UTF-8"
        raise TableError(what, where="the file", remedy=remedy)

    def first_record(self) -> bytes:
        """The first line that is not blank, up to the end of its last quoted field."""
        ahead = bytes(self._ahead).lstrip(b"\r\n")
        while not (found := FIRST_RECORD.match(ahead)) and len(ahead) <= BLOCK_BYTES:
            more = self._stream.read(1 << 16)
            ahead = (ahead + self._utf8(more, final=not more)).lstrip(b"\r\n")
            if not more:
                break
        end = found.end() if found else len(ahead)
        record, self._ahead = ahead[:end], ahead[end:]
        self._last = record[-1:] or b"\n"
        return record

    def next_records(self) -> bytes:
        """Some of what comes after the first record; it is still there to be read."""
        if len(self._ahead) < LOOKED_AT:
            more = bytes(filled(self._stream, LOOKED_AT))
            self._ahead = bytes(self._ahead) + bytes(self._utf8(more, final=not more))
        return bytes(self._ahead[:LOOKED_AT])

    def finish_with(self, ending: bytes) -> None:
        self._ending = ending

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> Octets:
        data, self._ahead = self._ahead, b""
        while not data:
            block = filled(self._stream, max(size, 1 << 16))
            data = self._utf8(block, final=not block)
            if not block:
                separator = b"" if (data or self._last)[-1:] in (b"\n", b"\r") else b"\n"
                data, self._ending = bytes(data) + (separator + self._ending if self._ending else b""), b""
                break
        self._last = bytes(data[-1:]) or self._last
        if 0 <= size < len(data):
            data, self._ahead = data[:size], data[size:]
        return data


def _remedy(data: bytes) -> str:
    """Windows-1252 has printable characters from 0x80 to 0x9F, where Latin-1 has control characters nobody writes."""
    if b"\0" in data:
        return "It is no text: give a CSV, Parquet or Arrow file, not compressed."
    likely = "cp1252" if any(0x80 <= octet <= 0x9F for octet in data) else "latin-1"
    return f"It is probably {likely}: say encoding={likely} (--encoding {likely})."


def filled(stream: BinaryIO | io.RawIOBase, size: int) -> memoryview:
    """So many bytes of a stream that may hand them out one by one; fewer only at its end. In memory that is reused."""
    room = memoryview(pa.allocate_buffer(size)).cast("B")
    done = 0
    while done < size and (more := stream.readinto(room[done:])):  # type: ignore[union-attr]
        done += more
    return room[:done]


def header_fields(stream: BinaryIO, encoding: str | None = None, known: Sequence[str] = ()) -> tuple[str, ...]:
    """The names of the columns. A first record that may be no header is refused, and nothing of it is shown; one that
    has all of the `known` columns is the header."""
    text = _Utf8(stream, encoding)
    record = text.first_record().decode("utf-8", "replace")
    parsed = [(_fields(record, one), one) for one in SEPARATORS]
    for names, _ in parsed if known else []:
        if all(names.count(name) == 1 for name in known):
            return tuple(names)
    names, separator = max(parsed, key=lambda one: len(one[0]))
    if not is_header(names, _columns(text.next_records(), separator, len(names))):
        raise TableError(
            "the first line looks like a record, not like names of columns",
            where="the header",
            remedy="Put a line of names, in words and each different, before the first record.",
        )
    return tuple(names)


def _header(record: bytes, wanted: list[str], following: Callable[[], bytes]) -> tuple[list[str], str]:
    """Column names and separator. Names that are in the file are shown only where they can be nothing else."""
    text = record.decode("utf-8", "replace")
    parsed = [(_fields(text, separator), separator) for separator in SEPARATORS]
    for names, separator in parsed:
        if all(names.count(name) == 1 for name in wanted):
            return names, separator
    names, separator = max(parsed, key=lambda one: (sum(name in one[0] for name in wanted), len(one[0])))
    name = next(name for name in wanted if names.count(name) != 1)
    what = "two columns of this name" if name in names else "no such column"
    columns = _columns(following(), separator, len(names))
    if not any(columns) or not is_header(names, columns):
        remedy = f"Compare with the {len(names)} fields of the first line; it may be a record where a header should be."
        raise AlphabetError(what, where=name, remedy=remedy)
    raise AlphabetError(what, where=name, remedy=nearest_columns(name, names))


def there(optional: Sequence[str], known: Sequence[str]) -> list[str]:
    """Those of the columns that a table has; AlphabetError for one that it has twice, of which either may be meant."""
    for name in optional:
        if known.count(name) > 1:
            remedy = "Give each of them a name of its own, or leave one out."
            raise AlphabetError("two columns of this name", where=name, remedy=remedy)
    return [name for name in optional if name in known]


def nearest_columns(name: str, names: Sequence[str]) -> str:
    """What to do about a column that is not there, in words."""
    folded = {str(one).casefold(): str(one) for one in names}
    close = [folded[one] for one in get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.6)]
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return f"Compare with the {len(names)} columns of the table: discreet look shows them."


def _columns(data: bytes, separator: str, size: int) -> list[set[str]]:
    """The values of the columns in the first records; the last of these may be cut."""
    rows = []
    with suppress(csv.Error):
        for row in csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""), delimiter=separator):
            rows.append(row)
    whole = rows if len(data) < LOOKED_AT else rows[:-1]
    return [{row[i].strip() for row in whole if i < len(row)} for i in range(size)]


def _fields(text: str, separator: str) -> list[str]:
    """The names of the first record; none where it is more than one by this separator."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error:
        return []
    return [name.strip() for name in rows[0]] if len(rows) == 1 else []
