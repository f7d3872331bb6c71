//! What becomes of each function of an object, and the file that tells the tracer.

use vestige_symbols::{ObjectFile, SymbolError};

use crate::agreement::{
    PlanFixup, PlanFunction, PlanHeader, PLAN_MAGIC, PLAN_MOST_CODE, PLAN_MOST_FUNCTIONS,
};
use crate::branches::Branches;
use crate::code::Code;
use crate::entry::{first_place, Entry};
use crate::functions::Functions;
use crate::object::refusal;
use crate::reason::{Method, Reason, Refusal};
use crate::sites::{has_site, sites};

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
        let branches = Branches::find(&functions, &code);
        let mut previous = 0;
        for function in &functions.list {
            let place = first_place(function, &code);
            let is_site = has_site(&sites, function.start, place, previous);
            previous = place.saturating_add(1);
            if choice == Choice::Sites && !is_site {
                continue;
            }
            let method = if is_site { Method::Site } else { Method::Moved };
            let planned = match function.reason {
                // Who asked for room at a function knows how it is entered.
                Some(Reason::NoUnwinding) if is_site => {
                    plan_one(function, &functions, &code, &branches)
                }
                Some(reason) => Err(reason),
                None => plan_one(function, &functions, &code, &branches),
            };
            let outcome = planned.map(|entry| plan.entries.push(entry)).map(|()| method);
            let (start, end, name) = (function.start, function.end, function.name.clone());
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

    /// The plan as the tracer reads it, with the functions that are chosen by where they begin.
    pub fn to_bytes(&self, is_chosen: impl Fn(u64) -> bool) -> Vec<u8> {
        let mut body = Vec::new();
        let mut count = 0;
        for entry in self.entries.iter().filter(|entry| is_chosen(entry.start)) {
            if count < PLAN_MOST_FUNCTIONS as u32 {
                put_entry(&mut body, entry);
                count += 1;
            }
        }
        let mut bytes = Vec::with_capacity(size_of::<PlanHeader>() + body.len());
        bytes.extend(PLAN_MAGIC.as_bytes());
        bytes.extend(((size_of::<PlanHeader>() + body.len()) as u64).to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend((self.build_id.len() as u32).to_le_bytes());
        bytes.extend(&self.build_id);
        bytes.resize(size_of::<PlanHeader>(), 0);
        bytes.extend(body);
        bytes
    }
}

fn plan_one(
    function: &crate::functions::Function,
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
        padding: [0; 5],
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
    body.resize(body.len().next_multiple_of(8), 0);
    for fixup in &entry.moved.fixups {
        let start = body.len();
        body.extend(fixup.at.to_le_bytes());
        body.extend([0; 4]);
        body.extend(fixup.target.to_le_bytes());
        body.resize(start + size_of::<PlanFixup>(), 0);
    }
}
