//! What unwind tables say of functions: where they are, and how they are entered.

use std::collections::BTreeMap;

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, EndianSlice, LittleEndian, Register, RegisterRule,
    UnwindContext, UnwindSection, UnwindTableRow, X86_64,
};
use vestige_symbols::{ObjectFile, SymbolError};

/// Where the stack pointer is from the canonical frame address after a call.
const AFTER_CALL: i64 = 8;

/// How a range of code is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entered {
    /// With the return address on top of the stack.
    ByCall,
    /// With more on the stack, as parts of functions are that are jumped to.
    ByJump,
    /// Without a return address.
    Otherwise,
}

/// A range of code that a table describes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) end: u64,
    pub(crate) entered: Entered,
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Reads `.eh_frame`; ranges by their beginnings. What comes after damage is left out.
pub(crate) fn ranges(object: &ObjectFile) -> Result<BTreeMap<u64, Range>, SymbolError> {
    let mut found = BTreeMap::new();
    let Some(section) = object.find_section(b".eh_frame") else {
        return Ok(found);
    };
    let data = object.read_section(section)?;
    let mut bases = BaseAddresses::default().set_eh_frame(section.address);
    if let Some(text) = object.find_section(b".text") {
        bases = bases.set_text(text.address);
    }
    let table = EhFrame::new(&data, LittleEndian);
    let mut context = UnwindContext::new();
    let mut entries = table.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(fde) = partial.parse(EhFrame::cie_from_offset) else { continue };
        let start = fde.initial_address();
        if fde.len() == 0 {
            continue;
        }
        let entered = if fde.is_signal_trampoline() {
            Entered::Otherwise
        } else {
            match fde.rows(&table, &bases, &mut context) {
                Ok(mut rows) => rows.next_row().ok().flatten().map_or(Entered::Otherwise, judge),
                Err(_) => Entered::Otherwise,
            }
        };
        found.insert(start, Range { end: start.saturating_add(fde.len()), entered });
    }
    Ok(found)
}

/// Judges by the first row.
fn judge(row: &UnwindTableRow<<Slice<'_> as gimli::Reader>::Offset>) -> Entered {
    if row.register(X86_64::RA) == RegisterRule::Undefined {
        return Entered::Otherwise;
    }
    let stack: Register = X86_64::RSP;
    match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset }
            if *register == stack && *offset == AFTER_CALL =>
        {
            Entered::ByCall
        }
        _ => Entered::ByJump,
    }
}
