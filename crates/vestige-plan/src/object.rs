//! Which objects are left alone.

use vestige_symbols::{ObjectFile, SymbolError};

use crate::reason::Refusal;

const EM_X86_64: u16 = 62;
const PT_DYNAMIC: u32 = 2;
const SHT_DYNSYM: u32 = 11;
const SHT_DYNAMIC: u32 = 6;
const DT_NULL: u64 = 0;
const DT_SONAME: u64 = 14;
const DT_TEXTREL: u64 = 22;
const DT_FLAGS: u64 = 30;
const DF_TEXTREL: u64 = 4;

/// What a plan has room for; those of linkers have 8 to 32 bytes.
const LONGEST_BUILD_ID: usize = 64;

/// Sections that only Go makes.
const GO: &[&[u8]] = &[b".gopclntab", b".note.go.buildid", b".data.rel.ro.gopclntab"];
/// What instrumented functions call.
const HOOKS: &[&[u8]] = &[b"__cyg_profile_func_enter", b"__fentry__", b"mcount", b"_mcount"];
/// How the names of libraries begin whose functions nobody may come between.
const RUNTIME: &[&[u8]] = &[
    b"ld-linux",
    b"libc.so",
    b"libpthread.so",
    b"libdl.so",
    b"librt.so",
    b"libgcc_s.so",
    b"libunwind",
    b"libasan.so",
    b"libtsan.so",
    b"libubsan.so",
    b"liblsan.so",
    b"libmsan.so",
    b"libclang_rt.",
    b"libvestige-",
    b"liblttng-ust",
    b"libmcount",
];

/// Why an object is left alone; `None` where it is not.
pub(crate) fn refusal(object: &ObjectFile) -> Result<Option<Refusal>, SymbolError> {
    if object.machine() != EM_X86_64 || object.bits() != 64 || object.is_big_endian() {
        return Ok(Some(Refusal::Machine));
    }
    if !object.segments().iter().any(|one| one.kind == PT_DYNAMIC) {
        return Ok(Some(Refusal::Static));
    }
    if GO.iter().any(|name| object.find_section(name).is_some()) {
        return Ok(Some(Refusal::Go));
    }
    let entries = dynamic_entries(object)?;
    let has_textrel = |&(tag, value): &(u64, u64)| {
        tag == DT_TEXTREL || (tag == DT_FLAGS && value & DF_TEXTREL != 0)
    };
    if entries.iter().any(has_textrel) {
        return Ok(Some(Refusal::TextRelocations));
    }
    let strings = object.section_data(b".dynstr")?.unwrap_or_default();
    let name = entries.iter().find(|(tag, _)| *tag == DT_SONAME).map(|(_, value)| *value);
    if name.is_some_and(|name| is_runtime(text_at(&strings, name))) {
        return Ok(Some(Refusal::Runtime));
    }
    if has_hooks(object, &strings)? {
        return Ok(Some(Refusal::Hooks));
    }
    let has_id = object.build_id().is_some_and(|id| id.len() <= LONGEST_BUILD_ID);
    Ok((!has_id).then_some(Refusal::NoBuildId))
}

fn is_runtime(name: &[u8]) -> bool {
    RUNTIME.iter().any(|start| name.starts_with(start))
}

/// Whether one of the dynamic symbols is a hook.
fn has_hooks(object: &ObjectFile, strings: &[u8]) -> Result<bool, SymbolError> {
    let Some(table) = object.sections().iter().find(|one| one.kind == SHT_DYNSYM) else {
        return Ok(false);
    };
    let data = object.read_section(table)?;
    let names = data.chunks_exact(24).filter_map(|entry| word(entry, 0, 4));
    let mut names = names.map(|name| text_at(strings, name));
    Ok(names.any(|name| HOOKS.contains(&name)))
}

/// Tags and values of the dynamic section.
fn dynamic_entries(object: &ObjectFile) -> Result<Vec<(u64, u64)>, SymbolError> {
    let Some(section) = object.sections().iter().find(|one| one.kind == SHT_DYNAMIC) else {
        return Ok(Vec::new());
    };
    let data = object.read_section(section)?;
    let entries = data.chunks_exact(16);
    let entries = entries.filter_map(|entry| Some((word(entry, 0, 8)?, word(entry, 8, 8)?)));
    Ok(entries.take_while(|(tag, _)| *tag != DT_NULL).collect())
}

/// The number of so many bytes at an offset, the lowest byte first.
pub(crate) fn word(data: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = data.get(at..at.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte)))
}

fn text_at(strings: &[u8], at: u64) -> &[u8] {
    let rest = usize::try_from(at).ok().and_then(|at| strings.get(at..)).unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}
