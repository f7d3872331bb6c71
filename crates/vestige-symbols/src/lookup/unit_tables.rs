//! Where the tables of units come from: debug information, or an index of it.

use std::sync::Arc;

use rayon::prelude::*;

use crate::dwarf::debug_info::DebugInfo;
use crate::index::stored_units::UnitIndex;
use crate::index::unit_table::UnitTable;
use vestige_workers::on_all_cores;

/// The units of one object.
#[derive(Debug)]
pub(crate) enum Units {
    /// Each is decoded when it is first needed.
    Decoded(Arc<DebugInfo>),
    /// Each is read from the index, which may lack some.
    Stored(Arc<UnitIndex>),
}

impl Units {
    /// The table of the unit that covers `address`.
    pub(crate) fn table_at(&self, address: u64) -> Option<&UnitTable> {
        match self {
            Self::Decoded(info) => info.table_at(address),
            Self::Stored(index) => index.table_at(address),
        }
    }

    /// Makes the tables for some addresses, on all cores.
    pub(crate) fn prepare(&self, addresses: impl Iterator<Item = u64>) {
        let number = |address| match self {
            Self::Decoded(info) => info.unit_covering(address),
            Self::Stored(index) => index.unit_at(address),
        };
        let mut wanted: Vec<u32> = addresses.filter_map(number).collect();
        wanted.dedup();
        wanted.sort_unstable();
        wanted.dedup();
        let prepare = |unit| match self {
            Self::Decoded(info) => info.prepare(unit),
            Self::Stored(index) => {
                index.table(unit);
            }
        };
        on_all_cores(|| wanted.into_par_iter().with_max_len(1).for_each(prepare));
    }
}
