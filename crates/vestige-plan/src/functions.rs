//! The functions of an object: those that symbols name, else those that unwind tables have.

use std::collections::BTreeMap;

use vestige_symbols::{function_symbols, FunctionSymbol, ObjectFile, SymbolError};

use crate::code::Code;
use crate::reason::Reason;
use crate::unwind::{ranges, Entered, Range};

/// Functions of the files that compilers link to each program; they have no unwind tables, or
/// are called by nobody who expects more than they do.
const START: &[&str] = &[
    "_start",
    "_init",
    "_fini",
    "_dl_relocate_static_pie",
    "deregister_tm_clones",
    "register_tm_clones",
    "__do_global_dtors_aux",
    "frame_dummy",
    "__libc_csu_init",
    "__libc_csu_fini",
    "__tls_get_addr",
];
const TWICE: &[&str] = &[
    "setjmp",
    "_setjmp",
    "__setjmp",
    "sigsetjmp",
    "__sigsetjmp",
    "vfork",
    "__vfork",
    "getcontext",
    "savectx",
];

/// What the tracer calls while it records: a program may have its own, which would begin to record
/// itself.
const OF_TRACER: &[&str] = &[
    "__errno_location",
    "clock_gettime",
    "getauxval",
    "geteuid",
    "getppid",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "pthread_mutex_consistent",
    "pthread_self",
    "pthread_setspecific",
    "pthread_sigmask",
    "sched_getcpu",
    "secure_getenv",
    "sigfillset",
    "strchr",
    "strcmp",
    "strcpy",
    "strcspn",
    "strlen",
    "strncmp",
    "strncpy",
    "strnlen",
    "strrchr",
    "strspn",
    "strstr",
    "strtol",
    "strtoul",
    "strtoull",
    "sysconf",
];

/// Fewer functions are not worth another thread.
pub(crate) const FEWEST_FOR_A_CORE: usize = 256;

/// A function, and what is against recording its calls as far as tables tell.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Empty for one that only unwind tables have.
    pub(crate) name: String,
    pub(crate) reason: Option<Reason>,
}

/// All functions of an object, by address, and where the ranges of code end that are none.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    pub(crate) list: Vec<Function>,
    /// Beginnings of all that tables know, in order.
    starts: Vec<u64>,
}

impl Functions {
    /// Finds the functions of an object; symbols may be in other files that belong to it.
    pub(crate) fn find(
        object: &ObjectFile,
        others: &[&ObjectFile],
        code: &Code,
    ) -> Result<Self, SymbolError> {
        let objects: Vec<&ObjectFile> =
            std::iter::once(object).chain(others.iter().copied()).collect();
        let symbols = function_symbols(&objects)?;
        let unwinding = ranges(object)?;
        let mut found: BTreeMap<u64, Function> = BTreeMap::new();
        for symbol in symbols.iter().filter(|one| one.is_function) {
            let range = unwinding.get(&symbol.start);
            let end = range.map_or(symbol.end, |range| symbol.end.max(range.end));
            let reason = reason_of(symbol, range);
            let name = symbol.name.clone();
            found.insert(symbol.start, Function { start: symbol.start, end, name, reason });
        }
        for (start, range) in &unwinding {
            found.entry(*start).or_insert_with(|| Function {
                start: *start,
                end: range.end,
                name: String::new(),
                reason: by_unwinding(Some(range)),
            });
        }
        if let Some(entry) = found.get_mut(&object.entry()) {
            entry.reason = Some(Reason::Start);
        }
        found.retain(|start, _| code.has_function(*start));
        let starts: Vec<u64> = found.keys().copied().collect();
        let mut list: Vec<Function> = found.into_values().collect();
        // A symbol may cover others, as those of assembly code do.
        for (function, next) in list.iter_mut().zip(starts.iter().skip(1)) {
            function.end = function.end.min(*next);
        }
        Ok(Self { list, starts })
    }

    /// Where the function begins that is the last to begin at an address or before it.
    pub(crate) fn last_start(&self, address: u64) -> Option<u64> {
        let next = self.starts.partition_point(|one| *one <= address);
        self.starts.get(next.checked_sub(1)?).copied()
    }

    /// Where the next function begins; `None` after the last.
    pub(crate) fn next_start(&self, start: u64) -> Option<u64> {
        let next = self.starts.partition_point(|one| *one <= start);
        self.starts.get(next).copied()
    }
}

fn reason_of(symbol: &FunctionSymbol, range: Option<&Range>) -> Option<Reason> {
    let name = symbol.name.as_str();
    if symbol.is_resolver || START.contains(&name) {
        return Some(Reason::Start);
    }
    if TWICE.contains(&name) {
        return Some(Reason::ReturnsTwice);
    }
    if OF_TRACER.contains(&name) {
        return Some(Reason::UsedByTracer);
    }
    if is_cold(name) {
        return Some(Reason::ColdPart);
    }
    by_unwinding(range)
}

/// Whether a name is that of a part that a compiler has split off.
fn is_cold(name: &str) -> bool {
    let rest = name.rsplit_once(".cold").map(|(_, rest)| rest);
    rest.is_some_and(|rest| rest.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit()))
}

fn by_unwinding(range: Option<&Range>) -> Option<Reason> {
    match range.map(|range| range.entered) {
        Some(Entered::ByCall) => None,
        Some(Entered::ByJump) => Some(Reason::ColdPart),
        Some(Entered::Otherwise) => Some(Reason::NoReturnAddress),
        None => Some(Reason::NoUnwinding),
    }
}

#[cfg(test)]
mod tests {
    use super::is_cold;

    #[test]
    fn parts_that_compilers_split_off_are_known_by_their_names() {
        assert!(is_cold("f.cold") && is_cold("f.cold.12") && is_cold("f.part.0.cold"));
        assert!(!is_cold("f.coldest") && !is_cold("cold") && !is_cold("f.constprop.0"));
    }
}
