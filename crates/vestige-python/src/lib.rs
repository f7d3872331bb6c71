//! The binding of Vestige's Rust crates to Python: conversions and error mapping only.
//!
//! The face of this module is described in `src/vestige/_core.pyi`; `vestige.core` is the
//! only Python module that imports it.

// The docstrings, from the stub: see `build.rs`.
include!(concat!(env!("OUT_DIR"), "/core_doc.rs"));

mod answer_writer;
mod arrow;
mod calls;
mod chrome;
mod copy;
mod counts;
mod details;
mod errors;
mod event;
mod event_copy;
mod event_iterator;
mod event_view;
mod events;
mod field_class;
mod fields_view;
mod intervals;
mod lookup_rows;
mod merge;
mod merge_builder;
mod merge_muxer;
mod message_counts;
mod messages;
mod metadata;
mod object_file;
mod open_files;
mod perfetto;
mod place_format;
mod place_objects;
mod places;
mod plan;
mod process;
mod python_columns;
mod python_values;
mod record_filter;
mod repair;
mod resources;
mod source;
mod split_files;
mod stream;
mod symbols;
mod text;
mod thread_names;
mod trimmer;
mod unit_index;
mod value;
mod verify;
mod writer;

use pyo3::prelude::*;

/// The stub that this was built for, without docstrings: see `build.rs`.
const INTERFACE: &str = include_str!(concat!(env!("OUT_DIR"), "/interface.txt"));

/// The extension module `vestige._core`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::answer_writer::AnswerWriter;
    #[pymodule_export]
    use crate::arrow::ColumnLayout;
    #[pymodule_export]
    use crate::calls::CallFold;
    #[pymodule_export]
    use crate::chrome::ChromeCalls;
    #[pymodule_export]
    use crate::copy::{CopyLayout, MergeCopy};
    #[pymodule_export]
    use crate::counts::EventCounter;
    #[pymodule_export]
    use crate::details::DetailsRenderer;
    #[pymodule_export]
    use crate::event::{copied_event, EventRecord};
    #[pymodule_export]
    use crate::event_iterator::EventIterator;
    #[pymodule_export]
    use crate::events::EventTable;
    #[pymodule_export]
    use crate::fields_view::{copied_fields, FieldsView};
    #[pymodule_export]
    use crate::intervals::BlockLevels;
    #[pymodule_export]
    use crate::intervals::IntervalIndex;
    #[pymodule_export]
    use crate::merge::{Merge, Muxer};
    #[pymodule_export]
    use crate::merge_builder::{EncodedPacket, MergeBuilder};
    #[pymodule_export]
    use crate::merge_muxer::MergeMuxer;
    #[pymodule_export]
    use crate::message_counts::MessageCounter;
    #[pymodule_export]
    use crate::messages::{
        packet_of_notice, ClockSnapshot, EventMessage, FieldBase, MessageEvent, MessageIterator,
        NumberFieldBase, StructureFieldBase,
    };
    #[pymodule_export]
    use crate::metadata::TraceClass;
    #[pymodule_export]
    use crate::object_file::{file_crc32, ObjectFile};
    #[pymodule_export]
    use crate::open_files::set_most_open_files;
    #[pymodule_export]
    use crate::perfetto::PerfettoWriter;
    #[pymodule_export]
    use crate::place_format::PlaceFormat;
    #[pymodule_export]
    use crate::places::PlaceColumn;
    #[pymodule_export]
    use crate::plan::FunctionPlan;
    #[pymodule_export]
    use crate::record_filter::RecordFilter;
    #[pymodule_export]
    use crate::repair::Repair;
    #[pymodule_export]
    use crate::resources::{LockFold, MemoryFold};
    #[pymodule_export]
    use crate::stream::{DataFile, DataStream};
    #[pymodule_export]
    use crate::symbols::{demangle, SymbolTable};
    #[pymodule_export]
    use crate::text::TextRenderer;
    #[pymodule_export]
    use crate::thread_names::ThreadNames;
    #[pymodule_export]
    use crate::trimmer::Trimmer;
    #[pymodule_export]
    use crate::unit_index::{IndexedTable, UnitIndex};
    #[pymodule_export]
    use crate::verify::Verifier;
    #[pymodule_export]
    use crate::writer::{EventLayout, StreamWriter};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__interface__", INTERFACE.as_bytes())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
