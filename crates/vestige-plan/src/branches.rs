//! Where direct branches lead, in all functions of an object.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

use crate::code::Code;
use crate::functions::Functions;

/// Targets of direct jumps, in order; each with the address of one that leads there.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    targets: Vec<(u64, u64)>,
}

impl Branches {
    /// Decodes all functions. Calls do not count: they lead to entries.
    pub(crate) fn find(functions: &Functions, code: &Code) -> Self {
        let mut targets = Vec::new();
        let mut instruction = Instruction::default();
        for function in &functions.list {
            let bytes = code.bytes(function.start, function.end);
            let mut decoder = Decoder::with_ip(64, bytes, function.start, DecoderOptions::NONE);
            while decoder.can_decode() {
                decoder.decode_out(&mut instruction);
                match instruction.flow_control() {
                    FlowControl::ConditionalBranch
                    | FlowControl::UnconditionalBranch
                    | FlowControl::XbeginXabortXend => {
                        targets.push((instruction.near_branch_target(), instruction.ip()));
                    }
                    _ => {}
                }
            }
        }
        targets.sort_unstable();
        Self { targets }
    }

    /// The branches that lead to an address of a range, with the address that each is at.
    pub(crate) fn into(&self, start: u64, end: u64) -> &[(u64, u64)] {
        let first = self.targets.partition_point(|(target, _)| *target < start);
        let last = self.targets.partition_point(|(target, _)| *target < end);
        self.targets.get(first..last).unwrap_or_default()
    }
}
