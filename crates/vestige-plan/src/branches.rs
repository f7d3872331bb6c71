//! Where direct branches lead that matter to entries of functions.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use rayon::prelude::*;

use crate::code::Code;
use crate::functions::{Function, Functions, FEWEST_FOR_A_CORE};

/// How far from its beginning the entry of a function may reach: a mark for indirect branches and
/// what a plan has room for.
const ENTRY_BYTES: u64 = 32;

/// Targets of direct jumps, in order; each with the address of one that leads there. Those that
/// lead nowhere near an entry are left out, as most do, and those that enter another function.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    targets: Vec<(u64, u64)>,
}

impl Branches {
    /// Decodes all functions. Calls do not count: they lead to entries.
    pub(crate) fn find(functions: &Functions, code: &Code) -> Self {
        let list = functions.list.par_iter().with_min_len(FEWEST_FOR_A_CORE);
        let mut targets: Vec<(u64, u64)> =
            list.flat_map_iter(|function| branches_of(function, functions, code)).collect();
        targets.par_sort_unstable();
        Self { targets }
    }

    /// The branches that lead to an address of a range, with the address that each is at.
    pub(crate) fn into(&self, start: u64, end: u64) -> &[(u64, u64)] {
        let first = self.targets.partition_point(|(target, _)| *target < start);
        let last = self.targets.partition_point(|(target, _)| *target < end);
        self.targets.get(first..last).unwrap_or_default()
    }
}

fn branches_of(function: &Function, functions: &Functions, code: &Code) -> Vec<(u64, u64)> {
    let rest = function.start.saturating_add(ENTRY_BYTES)..function.end;
    let own = function.start..function.end;
    let bytes = code.bytes(function.start, function.end);
    let mut decoder = Decoder::with_ip(64, bytes, function.start, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut found = Vec::new();
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        match instruction.flow_control() {
            FlowControl::ConditionalBranch
            | FlowControl::UnconditionalBranch
            | FlowControl::XbeginXabortXend => {
                let target = instruction.near_branch_target();
                let is_of_interest = if own.contains(&target) {
                    !rest.contains(&target)
                } else {
                    functions
                        .last_start(target)
                        .is_some_and(|start| target != start && target - start < ENTRY_BYTES)
                };
                if is_of_interest {
                    found.push((target, instruction.ip()));
                }
            }
            _ => {}
        }
    }
    found
}
