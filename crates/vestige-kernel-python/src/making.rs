//! What is given of contexts, filters and inclusion sets.

use std::collections::{HashMap, HashSet};
use std::os::fd::RawFd;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString};
use vestige_ctf::filter::{BodyFilter, Instruction, Operation as Code, Value};
use vestige_ctf::metadata::parse_text;
use vestige_ctf::model::TraceClass;
use vestige_kernel::contexts::HOST_BYTES;
use vestige_kernel::facts::{Facts, NAME_BYTES};
use vestige_kernel::plan::Filter;
use vestige_kernel::spaces::{SpacesRead, SPACES};
use vestige_kernel::state_events::{Processes, StateEvent};
use vestige_kernel::threads::Machine;
use vestige_kernel::tracking::Tracked;

use crate::given::{file, operation, OperationTuple};

pub type CodeTuple<'py> = (usize, u32, Bound<'py, PyAny>);
/// ID of the event, operations or none, expression.
pub type FilterTuple<'py> = (u16, Option<Vec<OperationTuple>>, Vec<CodeTuple<'py>>);
/// Process, parent, the same in their namespace, name, users and groups, namespaces, whether these
/// are those of the machine.
pub type FactsTuple = (i32, i32, [i32; 3], String, [u32; 6], [u32; 8], bool);
/// IDs, kinds and places of events; descriptors.
pub type ProcessesTuple = (Vec<(u16, String, Vec<usize>)>, Vec<RawFd>);
/// A thread, the time when it was read, what was read.
pub type ThreadTuple = (i32, u64, FactsTuple);

/// The metadata of a trace with a class for each filter, and these.
pub type FiltersTuple<'py> = (String, Vec<FilterTuple<'py>>);

/// What must be true of records, by events.
pub fn filters(given: Option<FiltersTuple<'_>>) -> PyResult<HashMap<u16, Filter>> {
    let Some((metadata, filters)) = given.filter(|(_, filters)| !filters.is_empty()) else {
        return Ok(HashMap::new());
    };
    let trace = parse_text(metadata.as_bytes())
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let numbered = filters.into_iter().enumerate();
    numbered.map(|(class, filter)| one_filter(&trace, class, filter)).collect()
}

fn one_filter(
    trace: &TraceClass,
    class: usize,
    (event, operations, code): FilterTuple<'_>,
) -> PyResult<(u16, Filter)> {
    let code = code.into_iter().map(instruction).collect::<PyResult<Vec<_>>>()?;
    let operations = operations
        .map(|all| all.into_iter().map(operation).collect::<PyResult<Vec<_>>>())
        .transpose()?;
    let expression = BodyFilter::new(&code, trace, 0, class);
    Ok((event, Filter { expression, operations }))
}

fn instruction((number, argument, value): CodeTuple<'_>) -> PyResult<Instruction> {
    let operation = Code::from_number(number)
        .ok_or_else(|| PyValueError::new_err(format!("no operation {number}")))?;
    let value = if let Ok(text) = value.cast::<PyString>() {
        let bytes = text.to_str()?.chars().map(u8::try_from);
        let wrong = |_| PyValueError::new_err("expected a byte in each character");
        Value::Bytes(bytes.collect::<Result<_, _>>().map_err(wrong)?)
    } else if let Ok(real) = value.cast::<PyFloat>() {
        Value::Real(real.value())
    } else {
        Value::Integer(value.extract()?)
    };
    Ok(Instruction { operation, argument, value })
}

/// What is told once of the machine.
pub fn machine(host: Vec<u8>, processes: Option<ProcessesTuple>, page: usize) -> PyResult<Machine> {
    let host: [u8; HOST_BYTES] =
        host.try_into().map_err(|_| PyValueError::new_err("expected 65 bytes"))?;
    let followed = |(events, files): ProcessesTuple| {
        let events = events.into_iter().map(state_event).collect::<PyResult<_>>()?;
        let files = files.into_iter().map(file).collect::<PyResult<_>>()?;
        Ok::<_, PyErr>(Processes::new(events, files, page))
    };
    Ok(Machine { host, processes: processes.map(followed).transpose()? })
}

/// What was read of threads.
pub fn known(threads: Vec<ThreadTuple>) -> Vec<(i32, u64, Facts)> {
    threads.into_iter().map(|(thread, time, one)| (thread, time, facts(one))).collect()
}

/// Thread, two times, its namespaces, and its IDs in its namespace of processes.
pub type SpacesTuple = (i32, u64, u64, [u32; SPACES], Option<[i32; 2]>);

/// Namespaces that were read.
pub fn spaces_read(all: Vec<SpacesTuple>) -> Vec<(i32, (u64, u64), SpacesRead)> {
    let one =
        |(thread, from, to, spaces, inner)| (thread, (from, to), SpacesRead { spaces, inner });
    all.into_iter().map(one).collect()
}

fn facts((process, parent, inner, text, ids, spaces, is_outer): FactsTuple) -> Facts {
    // A byte in each character; what is none has been none before.
    let mut name = [0; NAME_BYTES];
    for (to, from) in name.iter_mut().take(NAME_BYTES - 1).zip(text.chars()) {
        *to = u8::try_from(from).unwrap_or(b'?');
    }
    Facts { process, parent, inner, name, ids, spaces, ahead: 0, is_outer }
}

fn state_event((id, kind, places): (u16, String, Vec<usize>)) -> PyResult<(u16, StateEvent)> {
    let event = match (kind.as_str(), places.as_slice()) {
        ("born", &[thread, name, flags]) => StateEvent::Born { thread, name, flags },
        ("renamed", &[thread, name]) => StateEvent::Renamed { thread, name },
        ("executed", []) => StateEvent::Executed,
        ("user_asked" | "group_asked", places) if (1..=3).contains(&places.len()) => {
            let mut arguments = [0; 3];
            for (to, from) in arguments.iter_mut().zip(places) {
                *to = *from;
            }
            let is_group = kind == "group_asked";
            StateEvent::IdsAsked { is_group, arguments, count: places.len() }
        }
        ("ids", &[result]) => StateEvent::IdsChanged { result },
        ("unshared" | "entered", &[at]) => {
            StateEvent::SpacesAsked { flags: (at > 0).then_some(at), is_new: kind == "unshared" }
        }
        ("spaces", &[result]) => StateEvent::SpacesChanged { result },
        ("ended", &[at]) => StateEvent::Ended { is_last: (at > 0).then_some(at) },
        _ => return Err(PyValueError::new_err(format!("{kind}: no such event of threads"))),
    };
    Ok((id, event))
}

/// Of whom records are wanted.
pub fn tracked(all: &HashMap<String, Vec<i64>>) -> PyResult<Tracked> {
    let set = |name: &str| all.get(name).map(|ids| ids.iter().map(|one| *one as i32));
    let users = |name: &str| all.get(name).map(|ids| ids.iter().map(|one| *one as u32));
    let known = ["pid", "vpid", "uid", "vuid", "gid", "vgid"];
    if let Some(other) = all.keys().find(|one| !known.contains(&one.as_str())) {
        return Err(PyValueError::new_err(format!("{other}: no such inclusion set")));
    }
    Ok(Tracked {
        processes: set("pid").map(HashSet::from_iter),
        inner_processes: set("vpid").map(HashSet::from_iter),
        users: users("uid").map(HashSet::from_iter),
        inner_users: users("vuid").map(HashSet::from_iter),
        groups: users("gid").map(HashSet::from_iter),
        inner_groups: users("vgid").map(HashSet::from_iter),
    })
}

#[doc = core_doc!(impossible_filters)]
#[pyfunction]
pub fn impossible_filters(filters: FiltersTuple<'_>) -> PyResult<Vec<u16>> {
    let found = self::filters(Some(filters))?;
    let none = found.into_iter().filter(|(_, filter)| filter.expression.is_none());
    Ok(none.map(|(event, _)| event).collect())
}
