//! Where an event record lies in the data of its batch.

/// An event record inside the data of its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The clock of its data stream at the record, cycles.
    pub cycles: u64,
    /// Bit offset of its header in the batch's data.
    pub start: u32,
    /// Bit offset of what follows the header: its contexts and payload.
    pub body: u32,
    /// Index of its class in the stream class.
    pub class: u32,
    /// Whether the expressions of the selection are true of it: a filter may need it, too.
    pub passes: bool,
}
