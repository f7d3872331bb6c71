//! What becomes of each function of an object, and the file that tells the tracer.

use std::mem::offset_of;

use rayon::prelude::*;
use vestige_symbols::{ObjectFile, SymbolError};
use vestige_workers::on_all_cores;

use crate::agreement::{
    PlanFixup, PlanFunction, PlanHeader, PLAN_MAGIC, PLAN_MOST_CODE, PLAN_MOST_FUNCTIONS,
};
use crate::branches::Branches;
use crate::code::Code;
use crate::entry::{first_place, Entry};
use crate::functions::{Function, Functions, FEWEST_FOR_A_CORE};
use crate::object::{refusal, word};
use crate::reason::{Method, Reason, Refusal};
use crate::sites::{has_site, sites};

/// All parts of a plan begin at multiples of so many bytes.
const ALIGNMENT: usize = 8;

/// Which functions are planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Those at whose entries the compiler has left room.
    Sites,
    /// All.
    All,
}

/// A function and what becomes of it.
#[derive(Debug, Clone)]
pub struct PlannedFunction {
    /// Where it begins in the object.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
    /// Its name as stored; empty for one that only unwind tables have.
    pub name: String,
    /// How its calls are recorded, or why they cannot be.
    pub outcome: Result<Method, Reason>,
}

impl PlannedFunction {
    /// Whether people would miss its calls.
    pub fn is_missed(&self) -> bool {
        self.outcome.is_err_and(|reason| !reason.is_of_no_function())
    }
}

/// A plan of an object.
#[derive(Debug, Clone)]
pub struct Plan {
    build_id: Vec<u8>,
    functions: Vec<PlannedFunction>,
    entries: Vec<Entry>,
}

impl Plan {
    /// Plans an object; symbols may be in `others` that belong to it. An object that is left
    /// alone is no error.
    ///
    /// # Errors
    /// When the file is cut, or its sections cannot be read.
    pub fn make(
        object: &ObjectFile,
        others: &[&ObjectFile],
        choice: Choice,
    ) -> Result<Result<Self, Refusal>, SymbolError> {
        if let Some(refusal) = refusal(object)? {
            return Ok(Err(refusal));
        }
        let build_id = object.build_id().unwrap_or_default().to_vec();
        let sites = sites(object)?;
        let mut plan = Self { build_id, functions: Vec::new(), entries: Vec::new() };
        if choice == Choice::Sites && sites.is_empty() {
            return Ok(Ok(plan));
        }
        let code = Code::read(object)?;
        let functions = Functions::find(object, others, &code)?;
        let planned = on_all_cores(|| plan_all(&functions, &code, &sites, choice));
        for (function, planned) in functions.list.into_iter().zip(planned) {
            let Some((method, planned)) = planned else { continue };
            let outcome = planned.map(|entry| plan.entries.push(entry)).map(|()| method);
            let Function { start, end, name, .. } = function;
            plan.functions.push(PlannedFunction { start, end, name, outcome });
        }
        Ok(Ok(plan))
    }

    /// All functions that were looked at, by address.
    pub fn functions(&self) -> &[PlannedFunction] {
        &self.functions
    }

    /// The build ID of the object.
    pub fn build_id(&self) -> &[u8] {
        &self.build_id
    }

    /// The plan as the tracer reads it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let entries = self.entries.iter().take(PLAN_MOST_FUNCTIONS);
        let count = entries.len() as u32;
        let mut body = Vec::new();
        entries.for_each(|entry| put_entry(&mut body, entry));
        let size = (size_of::<PlanHeader>() + body.len()) as u64;
        let mut bytes = Vec::with_capacity(size_of::<PlanHeader>() + body.len());
        bytes.extend(PLAN_MAGIC.as_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend((self.build_id.len() as u32).to_le_bytes());
        bytes.extend(&self.build_id);
        bytes.resize(size_of::<PlanHeader>(), 0);
        bytes.extend(body);
        bytes
    }

    /// The functions that are planned, and how many people would miss.
    pub fn counts(&self) -> (usize, usize) {
        let missed = self.functions.iter().filter(|function| function.is_missed()).count();
        (self.entries.len(), missed)
    }

    /// Names of the functions that are planned or missed, as `+ADDRESS NAME` and
    /// `-ADDRESS NAME` with hexadecimal digits, and zeros between.
    pub fn rows(&self) -> Vec<u8> {
        let mut rows = Vec::new();
        for function in &self.functions {
            if function.outcome.is_ok() || function.is_missed() {
                if !rows.is_empty() {
                    rows.push(0);
                }
                let mark = if function.outcome.is_ok() { '+' } else { '-' };
                rows.extend(format!("{mark}{:x} {}", function.start, function.name).bytes());
            }
        }
        rows
    }
}

/// Takes the functions out of a plan, as the tracer reads it, that begin at some addresses. `None` for
/// what is no plan.
pub fn choose(plan: &[u8], is_chosen: impl Fn(u64) -> bool) -> Option<Vec<u8>> {
    let mut chosen = plan.get(..size_of::<PlanHeader>())?.to_vec();
    let mut count = 0_u32;
    let mut at = chosen.len();
    while at < plan.len() {
        let head = plan.get(at..at.checked_add(size_of::<PlanFunction>())?)?;
        let number = |place: usize| Some(usize::from(*head.get(place)?));
        let code = number(offset_of!(PlanFunction, code_size))?.next_multiple_of(ALIGNMENT);
        let fixups = number(offset_of!(PlanFunction, fixups))? * size_of::<PlanFixup>();
        let end = at + size_of::<PlanFunction>() + code + fixups;
        if is_chosen(word(head, offset_of!(PlanFunction, address), 8)?) {
            chosen.extend(plan.get(at..end)?);
            count += 1;
        }
        at = end;
    }
    let size = (chosen.len() as u64).to_le_bytes();
    put(&mut chosen, offset_of!(PlanHeader, size), &size);
    put(&mut chosen, offset_of!(PlanHeader, functions), &count.to_le_bytes());
    Some(chosen)
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

/// What becomes of each function; nothing of one that is not chosen.
fn plan_all(
    functions: &Functions,
    code: &Code,
    sites: &[u64],
    choice: Choice,
) -> Vec<Option<(Method, Result<Entry, Reason>)>> {
    let branches = Branches::find(functions, code);
    let list = functions.list.par_iter().enumerate().with_min_len(FEWEST_FOR_A_CORE);
    let each = |(index, function): (usize, &Function)| {
        let place = first_place(function, code);
        let previous = index.checked_sub(1).and_then(|before| functions.list.get(before));
        let least = previous.map_or(0, |one| first_place(one, code).saturating_add(1));
        let is_site = has_site(sites, function.start, place, least);
        if choice == Choice::Sites && !is_site {
            return None;
        }
        let planned = match function.reason {
            // Who asked for room at a function knows how it is entered.
            Some(Reason::NoUnwinding) if is_site => plan_one(function, functions, code, &branches),
            Some(reason) => Err(reason),
            None => plan_one(function, functions, code, &branches),
        };
        Some((if is_site { Method::Site } else { Method::Moved }, planned))
    };
    list.map(each).collect()
}

fn plan_one(
    function: &Function,
    functions: &Functions,
    code: &Code,
    branches: &Branches,
) -> Result<Entry, Reason> {
    let entry = Entry::plan(function, functions, code, branches)?;
    let is_too_long = entry.moved.bytes.len() > PLAN_MOST_CODE
        || entry.replaced.len() > size_of_val(&PlanFunction::EMPTY.replaced);
    if is_too_long {
        return Err(Reason::NotMovable);
    }
    Ok(entry)
}

impl PlanFunction {
    const EMPTY: Self = Self {
        address: 0,
        place: 0,
        replaced_size: 0,
        code_size: 0,
        fixups: 0,
        flags: 0,
        padding: [0; 4],
        replaced: [0; 24],
    };
}

/// Appends a function in the order of the members of `PlanFunction` and `PlanFixup`.
fn put_entry(body: &mut Vec<u8>, entry: &Entry) {
    let begin = body.len();
    body.extend(entry.start.to_le_bytes());
    body.extend(entry.place.to_le_bytes());
    body.push(entry.replaced.len() as u8);
    body.push(entry.moved.bytes.len() as u8);
    body.push(entry.moved.fixups.len() as u8);
    body.extend([0; 5]);
    body.extend(&entry.replaced);
    body.resize(begin + size_of::<PlanFunction>(), 0);
    body.extend(&entry.moved.bytes);
    body.resize(body.len().next_multiple_of(ALIGNMENT), 0);
    for fixup in &entry.moved.fixups {
        let start = body.len();
        body.extend(fixup.at.to_le_bytes());
        body.extend([0; 4]);
        body.extend(fixup.target.to_le_bytes());
        body.resize(start + size_of::<PlanFixup>(), 0);
    }
}
