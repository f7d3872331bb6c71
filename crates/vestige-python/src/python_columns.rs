//! Columns to write, from buffers, lists and Arrow arrays of Python.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMemoryView, PyString, PyTuple};
use vestige_ctf::encode::value::{Cell, Column, Value};
use vestige_ctf::encode::EncodeError;
use vestige_ctf::model::{FieldClass, FieldKind, Member};

use crate::python_values::{is_scalar, items, text, unfit, unknown, value, Result, Wrong};

/// The column of a field.
pub fn column(class: &FieldClass, object: &Bound<'_, PyAny>) -> Result<Column> {
    if is_scalar(object) {
        return Ok(Column::Constant(value(class, object)?));
    }
    if let FieldKind::Structure { members, .. } = &class.kind {
        if let Ok(given) = object.downcast::<PyDict>() {
            return structure(members, given);
        }
    }
    if object.is_instance_of::<PyList>() {
        return list(class, object);
    }
    if object.is_instance_of::<PyTuple>() {
        return match is_text(class) {
            true => offsets_and_data(object),
            false => list(class, object),
        };
    }
    if let Some(column) = arrow_texts(class, object)? {
        return Ok(column);
    }
    if let Some(column) = buffer(object)? {
        return Ok(column);
    }
    let py = object.py();
    for name in [intern!(py, "to_pylist"), intern!(py, "tolist"), intern!(py, "to_list")] {
        if let Ok(method) = object.getattr(name) {
            return list(class, &method.call0()?);
        }
    }
    Err(unfit("a buffer, a list or an Arrow array", object))
}

/// Columns of the members of a structure.
pub fn structure(members: &[Member], given: &Bound<'_, PyDict>) -> Result<Column> {
    let (column, found) = members_of(members, given)?;
    if found < given.len() {
        return Err(Wrong::Unknown(unknown(&[members], given)));
    }
    Ok(column)
}

/// Columns of those members that are given, and how many these are.
pub fn members_of(members: &[Member], given: &Bound<'_, PyDict>) -> Result<(Column, usize)> {
    let mut columns = Vec::with_capacity(members.len());
    let mut found = 0;
    for member in members {
        let name = member.name();
        columns.push(match given.get_item(name)? {
            Some(object) => {
                found += 1;
                column(&member.class, &object).map_err(|error| error.within(name))?
            }
            None => Column::Constant(Value::Absent),
        });
    }
    Ok((Column::Structure(columns), found))
}

/// Clock values; the error has the row.
pub fn times(object: &Bound<'_, PyAny>) -> Result<Vec<u64>> {
    if is_scalar(object) {
        return Err(unfit("a column of time stamps", object));
    }
    let column = match buffer(object)? {
        Some(Column::U64(values)) => return Ok(values),
        Some(column) => column,
        None => match object.extract::<Vec<u64>>() {
            Ok(values) => return Ok(values),
            Err(_) => Column::Values(
                object.try_iter()?.map(|item| time(&item?)).collect::<Result<Vec<Value>>>()?,
            ),
        },
    };
    let rows = column.rows().unwrap_or(0);
    let stamp = |row| {
        let value = Cell::Row(&column, row).integer();
        let stamp = value.and_then(|value| u64::try_from(value).ok());
        let message = "expected time stamps: integers of 64 bits from 0 on";
        stamp.ok_or_else(|| Wrong::Value(EncodeError::new(message), Some(row)))
    };
    (0..rows).map(stamp).collect()
}

fn time(item: &Bound<'_, PyAny>) -> Result<Value> {
    let value = item.extract::<i64>().map(i128::from);
    let value = value.or_else(|_| item.extract::<u64>().map(i128::from));
    value.map(Value::Integer).map_err(|_| unfit("a time stamp", item))
}

fn is_text(class: &FieldClass) -> bool {
    matches!(
        class.kind,
        FieldKind::String | FieldKind::Text(_) | FieldKind::Array { text: true, .. }
    )
}

fn list(class: &FieldClass, object: &Bound<'_, PyAny>) -> Result<Column> {
    if is_text(class) {
        return texts(object);
    }
    match &class.kind {
        FieldKind::Integer(_) => {
            if let Ok(values) = object.extract::<Vec<i64>>() {
                return Ok(Column::I64(values));
            }
        }
        FieldKind::Float { .. } => {
            if let Ok(values) = object.extract::<Vec<f64>>() {
                return Ok(Column::F64(values));
            }
        }
        _ => {}
    }
    let convert = |(row, item): (usize, Bound<'_, PyAny>)| {
        value(class, &item).map_err(|error| error.at_row(row))
    };
    let values = items(object)?.into_iter().enumerate().map(convert).collect::<Result<_>>()?;
    Ok(Column::Values(values))
}

fn texts(object: &Bound<'_, PyAny>) -> Result<Column> {
    let items = items(object)?;
    let mut data = Vec::new();
    let mut offsets = Vec::with_capacity(items.len() + 1);
    offsets.push(0);
    for (row, item) in items.iter().enumerate() {
        match item.downcast::<PyString>().map(|string| string.to_str()) {
            Ok(Ok(text)) => data.extend_from_slice(text.as_bytes()),
            _ => data.extend_from_slice(&text(item).map_err(|error| error.at_row(row))?),
        }
        offsets.push(data.len());
    }
    Ok(Column::Bytes { data, offsets })
}

/// The layout of Arrow's strings: a tuple of offsets and of the bytes of all texts.
fn offsets_and_data(object: &Bound<'_, PyAny>) -> Result<Column> {
    let Ok((offsets, data)) = object.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
        return Err(unfit("a list of texts, or a tuple of offsets and bytes", object));
    };
    text_column(&offsets, &data, 0, None)
}

fn text_column(
    offsets: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    first: usize,
    rows: Option<usize>,
) -> Result<Column> {
    let offsets: Vec<usize> = times(offsets)?.into_iter().map(|one| one as usize).collect();
    let end = rows.map_or(offsets.len(), |rows| first + rows + 1);
    let wrong = || Wrong::from(EncodeError::new("offsets go back or past the bytes of the texts"));
    let part = offsets.get(first..end).ok_or_else(wrong)?.to_vec();
    if part.is_empty() {
        return Ok(Column::Bytes { data: Vec::new(), offsets: vec![0] });
    }
    let bytes = PyBuffer::<u8>::get(&memory(data, "B")?)?.to_vec(data.py())?;
    Column::texts(bytes, part).ok_or_else(wrong)
}

/// The texts of an array of pyarrow, from its buffers.
fn arrow_texts(class: &FieldClass, object: &Bound<'_, PyAny>) -> Result<Option<Column>> {
    if !is_text(class) || !object.hasattr("buffers")? || !object.hasattr("null_count")? {
        return Ok(None);
    }
    let kind = object.getattr("type")?.str()?.to_string();
    let format = match kind.as_str() {
        "string" | "binary" => "i",
        "large_string" | "large_binary" => "q",
        _ => return Ok(None),
    };
    let nulls: usize = object.getattr("null_count")?.extract()?;
    if nulls > 0 {
        return Err(
            EncodeError::new(format!("expected a text in each row: {nulls} are null")).into()
        );
    }
    let buffers: Vec<Bound<'_, PyAny>> = object.call_method0("buffers")?.extract()?;
    let [_, offsets, data] = buffers.as_slice() else { return Ok(None) };
    if object.len()? == 0 || data.is_none() {
        return Ok(None);
    }
    let first = object.getattr("offset")?.extract()?;
    let offsets = memory(offsets, format)?;
    text_column(&offsets, data, first, Some(object.len()?)).map(Some)
}

/// A view of a buffer's bytes as elements of a format.
fn memory<'py>(object: &Bound<'py, PyAny>, format: &str) -> PyResult<Bound<'py, PyAny>> {
    let view = PyMemoryView::from(object)?;
    view.call_method1("cast", ("B",))?.call_method1("cast", (format,))
}

/// The elements of a buffer, if the object has one of numbers.
fn buffer(object: &Bound<'_, PyAny>) -> Result<Option<Column>> {
    let view = match PyMemoryView::from(object) {
        Ok(view) => view,
        Err(_) => match nanoseconds(object) {
            Some(numbers) => PyMemoryView::from(&numbers)?,
            None => return Ok(None),
        },
    };
    let format: String = view.getattr("format")?.extract()?;
    let shape: Vec<usize> = view.getattr("shape")?.extract()?;
    let size: usize = view.getattr("itemsize")?.extract()?;
    let view = view.into_any();
    let kind = format.trim_start_matches(['@', '=', '<']);
    let column = match (kind, size) {
        ("b", 1) => Column::I8(elements(&view)?),
        ("B" | "c", 1) => Column::U8(elements(&view)?),
        ("?", 1) => Column::U8(elements(&truths(&view)?)?),
        ("h", 2) => Column::I16(elements(&view)?),
        ("H", 2) => Column::U16(elements(&view)?),
        ("i" | "l", 4) => Column::I32(elements(&view)?),
        ("I" | "L", 4) => Column::U32(elements(&view)?),
        ("q" | "l" | "n", 8) => Column::I64(elements(&view)?),
        ("Q" | "L" | "N", 8) => Column::U64(elements(&view)?),
        ("f", 4) => Column::F32(elements(&view)?),
        ("d", 8) => Column::F64(elements(&view)?),
        _ => return Ok(None),
    };
    match shape.as_slice() {
        [_] => Ok(Some(column)),
        [rows, width] => {
            let (rows, width, elements) = (*rows, *width, Box::new(column));
            Ok(Some(Column::Lists { width, rows, elements }))
        }
        _ => Err(unfit("a buffer of one or two dimensions", object)),
    }
}

/// The numbers of times of NumPy in nanoseconds, which are no buffer by themselves.
fn nanoseconds<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let name: String = object.getattr("dtype").ok()?.getattr("name").ok()?.extract().ok()?;
    let is_time = matches!(name.as_str(), "datetime64[ns]" | "timedelta64[ns]");
    is_time.then(|| object.call_method1("view", ("int64",)).ok())?
}

fn truths<'py>(view: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    PyMemoryView::from(&view.call_method0("tobytes")?).map(Bound::into_any)
}

fn elements<T: Element>(view: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    PyBuffer::<T>::get(view)?.to_vec(view.py())
}
