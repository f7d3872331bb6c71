//! The first instructions of a function: which of them a jump takes the place of.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use crate::agreement::PLAN_JUMP_BYTES;
use crate::branches::Branches;
use crate::code::Code;
use crate::functions::{Function, Functions};
use crate::moved::{Moved, MovedCode};
use crate::reason::Reason;

/// What processors with indirect branch tracking want to see at targets.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
/// How far a function is followed to see whether it reads its return address.
const FIRST_INSTRUCTIONS: usize = 24;
/// Room for the longest instruction after a jump.
const LOOKED_AT: u64 = PLAN_JUMP_BYTES as u64 + 16;

/// How the entry of a function is rewritten.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) start: u64,
    /// Where the jump goes.
    pub(crate) place: u64,
    /// What it takes the place of.
    pub(crate) replaced: Vec<u8>,
    pub(crate) moved: MovedCode,
}

/// Where the first instruction is that may be replaced.
pub(crate) fn first_place(function: &Function, code: &Code) -> u64 {
    let is_marked = code.bytes(function.start, function.end).starts_with(&ENDBR64);
    function.start.saturating_add(if is_marked { ENDBR64.len() as u64 } else { 0 })
}

impl Entry {
    /// Plans the entry of a function against which tables say nothing.
    pub(crate) fn plan(
        function: &Function,
        functions: &Functions,
        code: &Code,
        branches: &Branches,
    ) -> Result<Self, Reason> {
        let place = first_place(function, code);
        let own = code.bytes(place, function.end);
        if own.is_empty() {
            return Err(Reason::NoCode);
        }
        if reads_return_address(place, own) {
            return Err(Reason::ReadsReturnAddress);
        }
        let moved = move_instructions(place, own)?;
        let jump = place.saturating_add(PLAN_JUMP_BYTES as u64);
        let moved_end = place.saturating_add(moved.size as u64);
        let end = jump.max(moved_end);
        if moved_end < jump {
            let next = functions.next_start(function.start).unwrap_or(u64::MAX);
            let rest = code.bytes(moved_end, jump.saturating_add(LOOKED_AT));
            if next < jump || !is_padding(moved_end, rest, jump) {
                return Err(Reason::TooShort);
            }
        }
        if !branches.into(place.saturating_add(1), end).is_empty() {
            return Err(Reason::BranchIntoEntry);
        }
        let is_own = |&(_, from): &(u64, u64)| from >= function.start && from < function.end;
        if branches.into(function.start, place.saturating_add(1)).iter().any(is_own) {
            return Err(Reason::LoopAtEntry);
        }
        let replaced = code.bytes(place, end).to_vec();
        if replaced.len() as u64 != end - place {
            return Err(Reason::NoCode);
        }
        Ok(Self { start: function.start, place, replaced, moved: moved.code })
    }
}

/// What is moved, and how many bytes it had.
struct MovedEntry {
    code: MovedCode,
    size: usize,
}

fn move_instructions(place: u64, bytes: &[u8]) -> Result<MovedEntry, Reason> {
    let mut decoder = Decoder::with_ip(64, bytes, place, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut moved = Moved::default();
    let mut size = 0;
    while size < PLAN_JUMP_BYTES && decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            return Err(Reason::NotDecoded);
        }
        let offsets = decoder.get_constant_offsets(&instruction);
        let own = bytes.get(size..size + instruction.len()).ok_or(Reason::NotDecoded)?;
        size += instruction.len();
        let jump_end = place.saturating_add(PLAN_JUMP_BYTES as u64);
        moved.add(&instruction, own, offsets.displacement_offset(), jump_end)?;
        if moved.has_ended() {
            break;
        }
    }
    Ok(MovedEntry { code: moved.finish(place.saturating_add(size as u64)), size })
}

/// Whether there is nothing but padding from an address on, up to another one.
fn is_padding(start: u64, bytes: &[u8], end: u64) -> bool {
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    let mut at = start;
    while at < end {
        if !decoder.can_decode() {
            return false;
        }
        let instruction = decoder.decode();
        if !matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3) {
            return false;
        }
        at = instruction.next_ip();
    }
    true
}

/// Whether the first instructions, up to a branch, read or write the return address.
fn reads_return_address(place: u64, bytes: &[u8]) -> bool {
    let mut decoder = Decoder::with_ip(64, bytes, place, DecoderOptions::NONE);
    // Where the return address is, from the stack pointer on.
    let mut depth: i64 = 0;
    for _ in 0..FIRST_INSTRUCTIONS {
        if !decoder.can_decode() {
            return false;
        }
        let instruction = decoder.decode();
        if instruction.memory_base() == Register::RSP
            && instruction.memory_index() == Register::None
            && instruction.mnemonic() != Mnemonic::Lea
            && instruction.mnemonic() != Mnemonic::Nop
            && instruction.memory_displacement64() as i64 == depth
        {
            // Probing the stack changes nothing.
            return !is_probe(&instruction);
        }
        if instruction.flow_control() != FlowControl::Next {
            return false;
        }
        if instruction.mnemonic() == Mnemonic::Pop && depth <= 0 {
            return true;
        }
        if instruction.is_stack_instruction() {
            depth = depth.saturating_sub(i64::from(instruction.stack_pointer_increment()));
            continue;
        }
        let is_register = instruction.op_count() > 0 && instruction.op0_kind() == OpKind::Register;
        if is_register && instruction.op0_register().full_register() == Register::RSP {
            match (instruction.mnemonic(), immediate(&instruction)) {
                (Mnemonic::Sub, Some(size)) => depth = depth.saturating_add(size),
                (Mnemonic::Add, Some(size)) => depth = depth.saturating_sub(size),
                (Mnemonic::Cmp | Mnemonic::Test, _) => {}
                _ => return false,
            }
        }
    }
    false
}

/// `or $0, (%rsp)`, by which compilers touch the pages of large frames.
fn is_probe(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Or && immediate(instruction) == Some(0)
}

fn immediate(instruction: &Instruction) -> Option<i64> {
    let has_one = instruction.op_count() == 2
        && matches!(
            instruction.op1_kind(),
            OpKind::Immediate8
                | OpKind::Immediate8to16
                | OpKind::Immediate8to32
                | OpKind::Immediate8to64
                | OpKind::Immediate32
                | OpKind::Immediate32to64
        );
    has_one.then(|| instruction.immediate(1) as i64)
}
