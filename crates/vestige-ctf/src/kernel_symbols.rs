//! Names of the kernel's functions, as a trace of the kernel has them in its environment.
//!
//! `kernel_symbols_N` are functions: begin and size as hexadecimal digits, name, and the module where
//! there is one; `kernel_modules_N` are modules: begin, size, name, build ID if it is known;
//! `kernel_sections_N` are sections of modules that have code: begin, name, module. Entries have `;`
//! between them and words a space. What makes no sense is left out.

use crate::model::{EnvironmentValue, TraceClass};

const FUNCTIONS: &str = "kernel_symbols_";
const MODULES: &str = "kernel_modules_";
const SECTIONS: &str = "kernel_sections_";
/// How the names of functions begin that record events, and stand innermost in call stacks.
const TRACING: [&str; 12] = [
    "trace_event_raw_event_",
    "trace_event_buffer_",
    "__traceiter_",
    "__ftrace_",
    "ftrace_",
    "perf_trace_",
    "perf_syscall_",
    "trace_call_bpf",
    "bpf_trace_run",
    "__bpf_trace_",
    "trace_syscall_",
    "bpf_prog_",
];

/// A function of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelFunction {
    /// Its first address.
    pub begin: u64,
    /// Its bytes.
    pub size: u64,
    /// Its name.
    pub name: String,
    /// Its module; empty: the kernel itself.
    pub module: String,
}

/// A module of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelModule {
    /// Its first address.
    pub begin: u64,
    /// Its bytes.
    pub size: u64,
    /// Its name.
    pub name: String,
    /// Its build ID; empty: nobody knows.
    pub build_id: Vec<u8>,
}

/// A section of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSection {
    /// Where it was loaded.
    pub begin: u64,
    /// Its name in the module's file.
    pub name: String,
    /// Its module.
    pub module: String,
}

/// What a trace tells of the kernel's code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelSymbols {
    /// By their begins, and none in another.
    functions: Vec<KernelFunction>,
    modules: Vec<KernelModule>,
    sections: Vec<KernelSection>,
}

impl KernelSymbols {
    /// What a trace tells; `None` if that is nothing.
    #[must_use]
    pub fn of(trace: &TraceClass) -> Option<Self> {
        let mut found = Self::default();
        for (key, value) in &trace.environment {
            let EnvironmentValue::String(text) = value else { continue };
            if key.starts_with(FUNCTIONS) {
                found.functions.extend(text.split(';').filter_map(function));
            } else if key.starts_with(MODULES) {
                found.modules.extend(text.split(';').filter_map(module));
            } else if key.starts_with(SECTIONS) {
                found.sections.extend(text.split(';').filter_map(section));
            }
        }
        found.functions.sort_by_key(|one| one.begin);
        let mut end = 0;
        found.functions.retain(|one| {
            let is_behind = one.begin >= end;
            if is_behind {
                end = one.begin.saturating_add(one.size);
            }
            is_behind
        });
        (!found.functions.is_empty()).then_some(found)
    }

    /// All functions, by their addresses.
    #[must_use]
    pub fn functions(&self) -> &[KernelFunction] {
        &self.functions
    }

    /// All modules.
    #[must_use]
    pub fn modules(&self) -> &[KernelModule] {
        &self.modules
    }

    /// All sections of modules that have code.
    #[must_use]
    pub fn sections(&self) -> &[KernelSection] {
        &self.sections
    }

    /// The function at an address.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<&KernelFunction> {
        let behind = self.functions.partition_point(|one| one.begin <= address);
        let one = self.functions.get(behind.checked_sub(1)?)?;
        (address - one.begin < one.size).then_some(one)
    }

    /// Whether the function at an address is one that records events.
    #[must_use]
    pub fn is_tracing(&self, address: u64) -> bool {
        let is_one = |one: &KernelFunction| TRACING.iter().any(|start| one.name.starts_with(start));
        self.at(address).is_some_and(is_one)
    }

    /// Appends what is at an address: `MODULE:FUNCTION+OFFSET`; tells whether it is known.
    pub fn push(&self, out: &mut Vec<u8>, address: u64) -> bool {
        let Some(one) = self.at(address) else { return false };
        if !one.module.is_empty() {
            out.extend_from_slice(one.module.as_bytes());
            out.push(b':');
        }
        out.extend_from_slice(one.name.as_bytes());
        let offset = address - one.begin;
        if offset > 0 {
            out.extend_from_slice(format!("+{offset:#x}").as_bytes());
        }
        true
    }
}

fn function(text: &str) -> Option<KernelFunction> {
    let mut words = text.split(' ');
    let (begin, size) = (number(words.next()?)?, number(words.next()?)?);
    let name = plain(words.next()?)?;
    let module = words.next().map_or(Some(String::new()), plain)?;
    Some(KernelFunction { begin, size, name, module })
}

fn module(text: &str) -> Option<KernelModule> {
    let mut words = text.split(' ');
    let (begin, size) = (number(words.next()?)?, number(words.next()?)?);
    let name = plain(words.next()?)?;
    let build_id = words.next().and_then(bytes).unwrap_or_default();
    Some(KernelModule { begin, size, name, build_id })
}

fn section(text: &str) -> Option<KernelSection> {
    let mut words = text.split(' ');
    let begin = number(words.next()?)?;
    let (name, module) = (plain(words.next()?)?, plain(words.next()?)?);
    Some(KernelSection { begin, name, module })
}

fn number(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

/// A name that can be shown as it is.
fn plain(name: &str) -> Option<String> {
    let is_plain = !name.is_empty() && name.bytes().all(|one| one.is_ascii_graphic());
    is_plain.then(|| name.to_owned())
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| u8::from_str_radix(digits.get(at..at.checked_add(2)?)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(entries: &[(&str, &str)]) -> Option<KernelSymbols> {
        let of = |(key, text): &(&str, &str)| {
            ((*key).to_owned(), EnvironmentValue::String((*text).to_owned()))
        };
        let environment = entries.iter().map(of).collect();
        KernelSymbols::of(&TraceClass { environment, ..TraceClass::default() })
    }

    fn text(found: &KernelSymbols, address: u64) -> String {
        let mut out = Vec::new();
        found.push(&mut out, address);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn addresses_have_names() {
        let found = symbols(&[
            ("kernel_symbols_0", "200 10 schedule;100 20 __traceiter_sched_switch"),
            ("kernel_symbols_1", "300 8 probe loop"),
            ("kernel_modules_2", "300 1000 loop 0aff;5000 10 other"),
            ("kernel_sections_3", "300 .text loop;x .text loop;340 .text"),
        ]);
        let found = found.unwrap();

        assert_eq!(text(&found, 0x20f), "schedule+0xf");
        assert_eq!(text(&found, 0x300), "loop:probe");
        assert_eq!([0xff, 0x120, 0x210, 0x308].map(|one| text(&found, one)), [""; 4]);
        assert!(found.is_tracing(0x100) && !found.is_tracing(0x200));
        assert_eq!(found.modules()[0].build_id, [0x0a, 0xff]);
        assert_eq!(found.modules()[1].build_id, [0; 0]);
        let (name, module) = (".text".to_owned(), "loop".to_owned());
        assert_eq!(found.sections(), [KernelSection { begin: 0x300, name, module }]);
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let entries = "x 10 a;;10 8;10 \u{e9} b;20 8 \u{1b}[m;30 ffffffffffffffff long;40 1 inside";
        let found = symbols(&[("kernel_symbols_0", entries)]).unwrap();

        assert_eq!(found.functions().len(), 1);
        assert_eq!(text(&found, u64::MAX - 1), "long+0xffffffffffffffce");
        assert_eq!(symbols(&[("kernel_symbols_0", ";;")]), None);
        assert_eq!(symbols(&[("hostname", "100 20 f")]), None);
    }
}
