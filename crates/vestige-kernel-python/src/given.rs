//! What Python gives, as the collector has it.

#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{BorrowedFd, FromRawFd, RawFd};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vestige_kernel::contexts::Context;
use vestige_kernel::cpu::{Cpu, Pair};
use vestige_kernel::memory::MemoryPlan;
use vestige_kernel::memory_fields::MemoryField;
use vestige_kernel::plan::{EventPlan, NewThread, Operation, Tells};
use vestige_kernel::stacks::{Side, StackPlan};
use vestige_kernel::stream::OwnRecord;
use vestige_kernel::texts::TextsPlan;

/// Kind, and two numbers.
pub type OperationTuple = (String, usize, i64);
/// What records tell, and the places of that.
type TellsTuple = (String, usize, usize);
/// ID in the kernel, class, operations, what it tells.
pub type EventTuple = (u16, Option<u32>, Vec<OperationTuple>, Option<TellsTuple>);
/// Number; descriptors of pages and statistics.
pub type CpuTuple = (u32, RawFd, RawFd);
/// Descriptors of data and index.
pub type PairTuple = (RawFd, RawFd);
/// Time, class and bytes of a record.
pub type OwnTuple = (u64, u32, Vec<u8>);

pub fn operation((kind, at, more): OperationTuple) -> PyResult<Operation> {
    let refused = || PyValueError::new_err(format!("{kind} {at} {more}: no such operation"));
    let size = || usize::try_from(more).map_err(|_| refused());
    Ok(match kind.as_str() {
        "address" => Operation::Address { at },
        "copy" => Operation::Copy { at, bytes: size()? },
        "subtract" => {
            Operation::Subtract { at, value: i32::try_from(more).map_err(|_| refused())? }
        }
        "text" | "relative_text" => Operation::Text { at, is_relative: kind != "text" },
        "sequence" | "relative_sequence" => {
            Operation::Sequence { at, is_relative: kind != "sequence", element: size()? }
        }
        "line" => Operation::Line { at },
        "request_bits" => Operation::RequestBits { at, bytes: size()? },
        "zeros" => Operation::Zeros { bytes: at },
        "groups" => Operation::Groups { parent: at, child: size()? },
        "kernel_stack" => Operation::KernelStack,
        "user_stack" => Operation::UserStack,
        "counter" => {
            let number =
                if more < 0 { None } else { Some(u32::try_from(more).map_err(|_| refused())?) };
            Operation::Counter { place: at, number }
        }
        _ if kind.starts_with("memory:") => {
            let name = kind.strip_prefix("memory:").unwrap_or_default();
            let field = MemoryField::from_name(name, size()?).ok_or_else(refused)?;
            Operation::Memory { at, field }
        }
        _ => {
            let context = kind.strip_prefix("context:").and_then(Context::from_name);
            Operation::Context(context.ok_or_else(refused)?)
        }
    })
}

fn tells((kind, at, more): TellsTuple) -> PyResult<Tells> {
    Ok(match kind.as_str() {
        "new_thread" => Tells::NewThread(NewThread { thread: at, flags: more }),
        "kernel_stack" => {
            Tells::Stack(StackPlan { side: Side::Kernel, count: Some(at), addresses: more })
        }
        "text" => {
            let token = u32::try_from(more).map_err(|_| PyValueError::new_err("no token"))?;
            Tells::Text { at, token }
        }
        "gets_texts" => Tells::GetsTexts(TextsPlan { at, count: more }),
        "gets_memory" => Tells::GetsMemory(MemoryPlan { at, is_end: more != 0 }),
        "user_stack" => Tells::Stack(StackPlan { side: Side::User, count: None, addresses: at }),
        "switch" => Tells::Switch { thread: at, priority: more },
        _ => return Err(PyValueError::new_err(format!("{kind}: nothing that records tell"))),
    })
}

pub fn plan((id, class, operations, told): EventTuple) -> PyResult<(u16, EventPlan)> {
    let operations = operations.into_iter().map(operation).collect::<PyResult<_>>()?;
    let tells = told.map(tells).transpose()?;
    Ok((id, EventPlan { class, operations, tells }))
}

pub fn file(descriptor: RawFd) -> PyResult<File> {
    if descriptor < 0 {
        return Err(PyValueError::new_err("no descriptor"));
    }
    // SAFETY: whoever calls gives it away.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// What a descriptor leads to that its owner keeps, for many.
pub fn shared(descriptor: RawFd) -> PyResult<Arc<File>> {
    if descriptor < 0 {
        return Err(PyValueError::new_err("no descriptor"));
    }
    // SAFETY: whoever calls has it open meanwhile.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(Arc::new(borrowed.try_clone_to_owned()?.into()))
}

pub fn cpus(tuples: Vec<CpuTuple>) -> PyResult<Vec<Cpu>> {
    let made = tuples.into_iter().map(|(number, pages, statistics)| {
        Ok(Cpu { number, pages: file(pages)?, statistics: file(statistics)? })
    });
    made.collect()
}

pub fn pairs(tuples: Vec<PairTuple>) -> PyResult<Vec<Pair>> {
    let made =
        tuples.into_iter().map(|(data, index)| Ok(Pair { data: file(data)?, index: file(index)? }));
    made.collect()
}

pub fn own(tuples: Vec<OwnTuple>) -> Vec<OwnRecord> {
    tuples.into_iter().map(|(time, class, body)| OwnRecord { time, class, body }).collect()
}
