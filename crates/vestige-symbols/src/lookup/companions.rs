//! Which of the files beside an object belong to its debug information.

use std::sync::Arc;

use crate::dwarf::debug_info::DebugInfo;
use crate::dwarf::object_file::ObjectFile;
use crate::dwarf::sections::Sections;
use crate::dwarf::split_unit::{Companions, SplitFailure, SplitSections};
use crate::elf::alt_link::AltLink;
use crate::lookup::symbol_files::{SplitFiles, SymbolFiles};
use gimli::SectionId;

/// Chooses what belongs to the debug information of `object`; notes what does not.
pub(crate) fn companions_of(
    object: &ObjectFile,
    files: &SymbolFiles<'_>,
    split: Option<Arc<dyn SplitFiles>>,
    problems: &mut Vec<String>,
) -> Companions {
    let supplement = object.debug_alt_link().and_then(|link| {
        let name = String::from_utf8_lossy(&link.name);
        let Some(file) = files.supplement else {
            problems.push(format!("supplementary file {name}: no file found"));
            return None;
        };
        let found = supplement_of(file, link).inspect_err(|reason| {
            problems.push(format!("supplementary file {name}: {reason}"));
        });
        found.ok()
    });
    let package = files.package.and_then(|package| {
        let found = package_of(package).inspect_err(|reason| {
            problems.push(format!("package of split units: {reason}"));
        });
        found.ok()
    });
    let lacks_supplement = object.debug_alt_link().is_some() && supplement.is_none();
    let split = split.map(sections_of);
    Companions { supplement, lacks_supplement, package, split }
}

/// The sections of the files that are opened when they are needed.
fn sections_of(files: Arc<dyn SplitFiles>) -> SplitSections {
    Box::new(move |dwo_id| {
        let file = files.open(dwo_id)?;
        let read = |file: Arc<ObjectFile>| file.split_sections().map_err(SplitFailure::Content);
        Some(file.and_then(read))
    })
}

/// The sections of a package.
fn package_of(object: &ObjectFile) -> Result<Arc<Sections>, String> {
    let sections = object.split_sections().map_err(|error| error.to_string())?;
    if sections.bytes(SectionId::DebugCuIndex).is_empty() {
        return Err("the file has no section .debug_cu_index".to_owned());
    }
    Ok(sections)
}

/// The debug information of a supplementary file.
fn supplement_of(object: &ObjectFile, link: &AltLink) -> Result<Arc<DebugInfo>, String> {
    if !object.is_supplement_of(link) {
        return Err("the file has another build ID".to_owned());
    }
    let info = object.shared_info().map_err(|error| error.to_string())?;
    info.ok_or_else(|| "the file has no section .debug_info".to_owned())
}
