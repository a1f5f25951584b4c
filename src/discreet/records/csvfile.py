"""CSV as it comes: a declared policy for everything that can be wrong with it, the same for every record.

- A byte order mark decides the encoding, otherwise it is UTF-8 unless declared. Bytes that do not fit are refused: two
  letters must not become one. Where nothing was declared, the refusal says which encoding it probably is.
- The header is the first record. The separator is the one of , ; tab | that fits the first records (`csvheader`).
- Every field is text. Quoted fields may contain separators and line ends; stray quotes are refused (`quotes`).
- A record with too many or too few fields stays in its place, with every cell missing: one record in, one record out.
- Blank lines are not records, except where there is only one column: there they are missing cells.
- A quote that is never closed, or a record of more than 8 MB, is no table: nothing is released.
"""

from __future__ import annotations

import codecs
import io
import re
import secrets
from collections.abc import Container, Iterator, Sequence
from typing import BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from discreet.exceptions import InOwnWords, TableError
from discreet.records.columns import OTHER, other_columns, places_of
from discreet.records.csvheader import LOOKED_AT, Header, header_from, there
from discreet.records.feed import Feed
from discreet.records.quotes import QuoteCheck, line_ends, refuse_records_in

BLOCK_BYTES: Final = 1 << 23
"""A block must hold a whole record; this is more than any cell of a spreadsheet, and few blocks fit into memory."""
MARKS: Final = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""The mark of UTF-32 begins like that of UTF-16."""
_LETTERS: Final = pa.dictionary(pa.int32(), pa.string())
"""What was read as UTF-8 is text: records end and begin at characters of one byte."""
FIRST_RECORD: Final = re.compile(
    rb'(?:[^"\r\n]++|(?<=[^,;\t|])"|(?<![^,;\t|])"(?:[^"]++|"")*+")*+(?:\r\n|\n|\r(?=[^\n]))'
)
"""Up to the first line end outside quotes, which are opened where a field begins and nowhere else; a carriage return
only where the byte after it is known."""
NO_CHARACTERS: Final = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")
"""Encodings of names and of program text: they raise on some bytes, or read a backslash as something else."""
SAMPLE_BYTES: Final = 1 << 20
"""A block where only the first records are wanted: most of a large one would be read for nothing."""
Octets = bytes | memoryview
FITS: Final = "Recode the file to UTF-8; without a byte order mark, encoding=latin-1 has a character for every byte."
WHOLE: Final = "Open it in an editor: a quote is probably opened and not closed."


class CsvRecords:
    """The records of a CSV stream: `letters` as dictionaries, all of them text.

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
        others: Container[int] = (),
        in_order: bool = True,
        sample: bool = False,
    ) -> None:
        self._block = SAMPLE_BYTES if sample else BLOCK_BYTES
        self._text = _Utf8(stream, encoding)
        header = self._text.header().meaning([*letters, *plain, *optional])
        header.check([*letters, *plain])
        self._names, self._separator = header.names, header.separator
        coded = [*letters, *there(optional, self._names)]
        places = places_of(self._names)
        self._places = {name: places[name] for name in (*coded, *plain)}
        self.others = other_columns(self._names, self._places, others, shown=header.sure)
        self._places |= {one.column: one.place for one in self.others}
        self.schema = pa.schema([(name, pa.string()) for name in self._places])
        letters_of = set(coded)
        self._types = [_LETTERS if name in letters_of else pa.string() for name in self._places]
        self._in_order = in_order
        self._ragged: list[int] = []
        self._row = self._added = 0
        self.unreadable = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        end = secrets.token_hex(16)
        self._text.finish_with((self._separator.join([end] * len(self._names)) + "\n").encode(), self._separator)
        feed = Feed(self._text.read)
        try:
            yield from self._checked(feed.batches(self._reader), end)
        except pa.ArrowInvalid:
            what = f"a record is longer than {self._block >> 20} MB, or its quotes do not match"
            raise TableError(what, where=f"after row {self._row}", remedy=WHOLE) from None
        finally:
            feed.end()

    def _reader(self, file: pa.PythonFile) -> pacsv.CSVStreamingReader:
        fields = [str(place) for place in self._places.values()]
        return pacsv.open_csv(
            file,
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
                column_types=dict(zip(fields, self._types, strict=True)),
                strings_can_be_null=False,
            ),
        )

    def _checked(self, reader: Iterator[pa.RecordBatch], end: str) -> Iterator[pa.RecordBatch]:
        """Every batch one later than it is read, so that the last record can be checked and taken away."""
        held: pa.RecordBatch | None = None
        for batch in reader:
            if held is not None and len(batch):
                yield self._with_ragged(held)
            self._refuse_records_in(batch)
            held = batch.rename_columns(self.schema.names) if len(batch) or held is None else held
        if held is None or not len(held) or any(column[-1].as_py() != end for column in held.columns):
            raise TableError("a quote is opened and not closed", where=f"after row {self._row}", remedy=WHOLE)
        yield self._with_ragged(held).slice(0, len(held) + self._added - 1)

    def _refuse_records_in(self, batch: pa.RecordBatch) -> None:
        """Of the columns that somebody reads for what is in them."""
        for name, cells in zip(self.schema.names, batch.columns, strict=True):
            if not name.startswith(OTHER):
                refuse_records_in(cells, name, len(self._names), self._separator, self._row)

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


class _Utf8:
    """A byte stream as UTF-8, its byte order mark read and dropped, with an ending of our own."""

    def __init__(self, stream: BinaryIO, encoding: str | None) -> None:
        self._stream, self._ending, self._last = stream, b"", b"\n"
        self._record, self._looked, self._blank = b"", b"", 0
        self._begun = False
        self._quotes: QuoteCheck | None = None
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

    def header(self) -> Header:
        """The first record; those after it are still there to be read."""
        self._record = self._first_record()
        return header_from(self._record, self._next_records())

    def _first_record(self) -> bytes:
        """The first line that is not blank, up to the end of its last quoted field."""
        whole = bytes(self._ahead)
        while not (found := FIRST_RECORD.match(ahead := whole.lstrip(b"\r\n"))) and len(ahead) <= BLOCK_BYTES:
            more = self._stream.read(1 << 16)
            whole += self._utf8(more, final=not more)
            if not more:
                break
        ahead = whole.lstrip(b"\r\n")
        end = found.end() if found else len(ahead)
        self._blank = line_ends(whole[: len(whole) - len(ahead)])
        record, self._ahead = ahead[:end], ahead[end:]
        self._last = record[-1:] or b"\n"
        return record

    def _next_records(self) -> bytes:
        """Some of what comes after the first record; it is still there to be read, in the blocks it would have been
        read in without looking: draws from a fixed stream depend on them."""
        self._looked = bytes(filled(self._stream, max(0, LOOKED_AT - len(self._ahead))))
        state = self._decoder.getstate()
        found = bytes(self._ahead) + bytes(self._utf8(self._looked))
        self._decoder.setstate(state)
        return found[:LOOKED_AT]

    def _block(self, size: int) -> Octets:
        """As many bytes, those first that were looked at; fewer only at the end."""
        looked, self._looked = self._looked[:size], self._looked[size:]
        more = filled(self._stream, size - len(looked))
        return looked + bytes(more) if looked else more

    def finish_with(self, ending: bytes, separator: str) -> None:
        """From here on quotes are looked at, those of the first record too."""
        self._ending = ending
        self._quotes = QuoteCheck(separator, self._blank)
        self._quotes.add(self._record)

    def read(self, size: int) -> Octets:
        """The next bytes, at most so many; none at the end. A mark that pyarrow would take for that of the file, and
        drop, is a character here: there is another one before it then."""
        data, self._ahead = self._ahead, b""
        while not data:
            block = self._block(max(size, 1 << 16))
            data = self._utf8(block, final=not block)
            if not block:
                separator = b"" if (data or self._last)[-1:] in (b"\n", b"\r") else b"\n"
                data, self._ending = bytes(data) + (separator + self._ending if self._ending else b""), b""
                break
        self._last = bytes(data[-1:]) or self._last
        mark, self._begun = b"" if self._begun or data[:3] != codecs.BOM_UTF8 else codecs.BOM_UTF8, True
        room = size - len(mark)
        if room < len(data):
            data, self._ahead = data[:room], data[room:]
        if self._quotes is not None:
            self._quotes.add(data) if len(data) else self._quotes.end()
        return mark + bytes(data) if mark else data


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


def header_fields(stream: BinaryIO, encoding: str | None = None) -> tuple[str, ...]:
    """The names of the columns. A first record that is no header is refused, and nothing of it is shown."""
    return _Utf8(stream, encoding).header().shown()
