//! The types of the decoder, for bytes in memory.

use gimli::{EndianSlice, RunTimeEndian};

pub(crate) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
pub(crate) type GimliUnit<'a> = gimli::Unit<Slice<'a>>;
pub(crate) type GimliUnitHeader<'a> = gimli::UnitHeader<Slice<'a>>;
