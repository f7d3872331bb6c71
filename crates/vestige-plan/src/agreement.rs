//! The layout of plans, which tracer and recorder agree on. Made by
//! `tools/make_agreement.py` from `tracer/agreement`: change it there, then say
//! `make agreement`.

pub const PLAN_MAGIC: &str = "VESTPLN1";
/// Of the jump at an entry.
pub const PLAN_JUMP_BYTES: usize = 5;
/// Bytes of moved code.
pub const PLAN_MOST_CODE: usize = 240;
pub const PLAN_MOST_FUNCTIONS: usize = 1048576;

/// How a plan begins.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PlanHeader {
    pub magic: [u8; 8],
    /// Bytes of the file.
    pub size: u64,
    /// How many there are.
    pub functions: u32,
    /// Bytes.
    pub build_id_size: u32,
    /// Of the object.
    pub build_id: [u8; 64],
}

const _: () = {
    assert!(core::mem::offset_of!(PlanHeader, magic) == 0);
    assert!(core::mem::offset_of!(PlanHeader, size) == 8);
    assert!(core::mem::offset_of!(PlanHeader, functions) == 16);
    assert!(core::mem::offset_of!(PlanHeader, build_id_size) == 20);
    assert!(core::mem::offset_of!(PlanHeader, build_id) == 24);
    assert!(size_of::<PlanHeader>() == 88);
};

/// A function; its code and its fixups come after it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PlanFunction {
    /// Where it begins, in the object.
    pub address: u64,
    /// Where the jump goes.
    pub place: u64,
    /// Bytes that the jump takes the place of.
    pub replaced_size: u8,
    /// Bytes of the moved code.
    pub code_size: u8,
    /// How many come after the code.
    pub fixups: u8,
    /// See probes.py.
    pub flags: u8,
    pub padding: [u8; 4],
    /// What must be there before.
    pub replaced: [u8; 24],
}

const _: () = {
    assert!(core::mem::offset_of!(PlanFunction, address) == 0);
    assert!(core::mem::offset_of!(PlanFunction, place) == 8);
    assert!(core::mem::offset_of!(PlanFunction, replaced_size) == 16);
    assert!(core::mem::offset_of!(PlanFunction, code_size) == 17);
    assert!(core::mem::offset_of!(PlanFunction, fixups) == 18);
    assert!(core::mem::offset_of!(PlanFunction, flags) == 19);
    assert!(core::mem::offset_of!(PlanFunction, padding) == 20);
    assert!(core::mem::offset_of!(PlanFunction, replaced) == 24);
    assert!(size_of::<PlanFunction>() == 48);
};

/// A number that depends on where the code lies.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PlanFixup {
    /// Where in the moved code a distance of 32 bits is.
    pub at: u32,
    pub padding: u32,
    /// To where in the object the distance leads from the byte after it.
    pub target: u64,
}

const _: () = {
    assert!(core::mem::offset_of!(PlanFixup, at) == 0);
    assert!(core::mem::offset_of!(PlanFixup, padding) == 4);
    assert!(core::mem::offset_of!(PlanFixup, target) == 8);
    assert!(size_of::<PlanFixup>() == 16);
};
