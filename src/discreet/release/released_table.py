"""A released table as the kind of table that came in: Arrow to Arrow, a frame of pandas to one of pandas, lazy to lazy.

What is said about the draw goes along where the kind has a place for it: in the metadata of an Arrow schema, in the
`attrs` of pandas.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import narwhals as nw
import pyarrow as pa

from discreet.exceptions import InOwnWords, ReleaseError
from discreet.release.manifest import FORMAT

_ARROW: Final = (pa.Table, pa.RecordBatch, pa.RecordBatchReader)


Said = dict[str, Any]


def _not_given_back(_: Exception) -> ReleaseError:
    return ReleaseError(
        "what is released cannot be made a frame of the kind that was given",
        where="the table",
        remedy="Give a table of Arrow, pandas or polars, or a path; a frame of Spark to discreet.spark.sanitise.",
    )


def check_kind(original: Any, schema: pa.Schema) -> None:
    """ReleaseError, before anything is drawn, where these columns could not be made the kind that came in."""
    like(original, schema.empty_table())


@InOwnWords(_not_given_back)
def like(original: Any, released: pa.Table) -> Callable[[Said], Any]:
    """The table as the kind that came in, made now, so that nothing can fail once the draw is entered; what is said
    about it goes along later, where that kind has a place for it."""
    frame = None if isinstance(original, _ARROW) else nw.from_native(original, pass_through=True)
    if not isinstance(frame, nw.LazyFrame | nw.DataFrame):
        return lambda said: _in_arrow(original, released.replace_schema_metadata({FORMAT: json.dumps(said)}))
    if frame.implementation.is_pandas():
        native = _in_pandas(released)
        return lambda said: _with_attrs(native, said)
    if isinstance(frame, nw.DataFrame):
        made = nw.from_arrow(released, backend=frame.implementation).to_native()
    elif frame.implementation.is_polars():
        made = nw.from_arrow(released, backend="polars").lazy().to_native()
    else:
        made = nw.from_native(released).lazy(backend=frame.implementation).to_native()
    return lambda said: made


def _in_arrow(original: Any, released: pa.Table) -> Any:
    if isinstance(original, pa.RecordBatchReader):
        return released.to_reader()
    if isinstance(original, pa.RecordBatch):
        whole = released.combine_chunks().to_batches()
        return whole[0] if len(whole) else pa.RecordBatch.from_pylist([], released.schema)
    return released


def _with_attrs(native: Any, said: Said) -> Any:
    native.attrs[FORMAT] = said
    return native


def _in_pandas(released: pa.Table) -> Any:
    """A frame with the numbers and moments of the table. pandas makes floats of whole numbers where one is missing, and
    its own type for both holds them to the last digit; moments inside of lists lose their zone there, inside of records
    and maps they become numbers, and as Arrow holds them they stay what they are."""
    pandas = nw.dependencies.get_pandas()

    def nullable(kind: pa.DataType) -> Any:
        return pandas.api.types.pandas_dtype(f"{'U' * pa.types.is_unsigned_integer(kind)}Int{kind.bit_width}")

    frame = released.to_pandas(integer_object_nulls=True)  # also where they are inside of lists and structs
    for field, column in zip(released.schema, released.columns, strict=True):
        if pa.types.is_integer(field.type) and column.null_count:
            frame[field.name] = column.to_pandas(types_mapper=nullable)
        elif _moments_inside(field.type):
            frame[field.name] = column.to_pandas(types_mapper=pandas.ArrowDtype)
    return frame


def _moments_inside(kind: pa.DataType) -> bool:
    """Whether parts of such cells are moments or durations, at any depth."""
    parts = [kind.field(place).type for place in range(kind.num_fields)] if pa.types.is_nested(kind) else []
    return any(pa.types.is_timestamp(part) or pa.types.is_duration(part) or _moments_inside(part) for part in parts)
