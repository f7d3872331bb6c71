//! Code that does at another place what it did at its own.

use iced_x86::{FlowControl, Instruction, Mnemonic, Register};

use crate::reason::Reason;

/// A distance of 32 bits that depends on where the code lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fixup {
    /// Where in the code it is.
    pub(crate) at: u32,
    /// To where in the object it leads, from the byte after it.
    pub(crate) target: u64,
}

/// Code that was moved, and what is to be put into it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MovedCode {
    pub(crate) bytes: Vec<u8>,
    pub(crate) fixups: Vec<Fixup>,
}

/// Moved code in the making.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    code: MovedCode,
    has_ended: bool,
}

/// Bytes of a distance.
const DISTANCE: usize = 4;
/// `jmp` over 32 bits.
const JUMP: u8 = 0xe9;
/// `lea -8(%rsp), %rsp; push %rax; lea DISTANCE(%rip), %rax`: no flag changes.
const MAKE_ROOM: &[u8] = &[0x48, 0x8d, 0x64, 0x24, 0xf8, 0x50, 0x48, 0x8d, 0x05];
/// `mov %rax, 8(%rsp); pop %rax`.
const PUT_DOWN: &[u8] = &[0x48, 0x89, 0x44, 0x24, 0x08, 0x58];
/// What is between `call` and `jmp` through a register or memory, in the byte after `OPCODE`.
const CALL_TO_JUMP: u8 = 0x30;
const OPCODE: u8 = 0xff;

impl Moved {
    /// Whether nothing comes after what was added.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Adds an instruction with its bytes, and where in them a displacement is. What is called
    /// returns to its old place, which must not lie before `jump_end`.
    pub(crate) fn add(
        &mut self,
        instruction: &Instruction,
        bytes: &[u8],
        displacement: usize,
        jump_end: u64,
    ) -> Result<(), Reason> {
        if instruction.memory_base() == Register::EIP {
            return Err(Reason::NotMovable);
        }
        if instruction.is_jcc_short_or_near() {
            let condition = (instruction.condition_code() as u8).wrapping_sub(1);
            self.code.bytes.extend([0x0f, 0x80 | (condition & 0xf)]);
            self.distance(instruction.near_branch_target());
            return Ok(());
        }
        if instruction.is_jmp_short_or_near() {
            self.jump(instruction.near_branch_target());
            return Ok(());
        }
        if instruction.is_call_near() || instruction.is_call_near_indirect() {
            if instruction.next_ip() < jump_end {
                return Err(Reason::NotMovable);
            }
            return self.call(instruction, bytes, displacement);
        }
        match instruction.flow_control() {
            FlowControl::Next => {
                if instruction.mnemonic() != Mnemonic::Nop {
                    self.copy(instruction, bytes, displacement);
                }
                Ok(())
            }
            FlowControl::Return | FlowControl::Exception => {
                self.end(instruction, bytes, displacement)
            }
            FlowControl::IndirectBranch if instruction.is_jmp_near_indirect() => {
                self.end(instruction, bytes, displacement)
            }
            _ => Err(Reason::NotMovable),
        }
    }

    /// Goes on at an address, unless the code has ended.
    pub(crate) fn finish(mut self, next: u64) -> MovedCode {
        if !self.has_ended {
            self.jump(next);
        }
        self.code
    }

    fn end(
        &mut self,
        instruction: &Instruction,
        bytes: &[u8],
        displacement: usize,
    ) -> Result<(), Reason> {
        self.copy(instruction, bytes, displacement);
        self.has_ended = true;
        Ok(())
    }

    fn copy(&mut self, instruction: &Instruction, bytes: &[u8], displacement: usize) {
        if instruction.is_ip_rel_memory_operand() {
            // The processor counts from the end of the instruction.
            let tail = bytes.len().saturating_sub(displacement + DISTANCE) as u64;
            let at = (self.code.bytes.len() + displacement) as u32;
            let target = instruction.ip_rel_memory_address().wrapping_sub(tail);
            self.code.fixups.push(Fixup { at, target });
        }
        self.code.bytes.extend(bytes);
    }

    /// What is called must find the address of the object where it returns to: unwinders know
    /// nothing of the place where the code is now.
    fn call(
        &mut self,
        instruction: &Instruction,
        bytes: &[u8],
        displacement: usize,
    ) -> Result<(), Reason> {
        if instruction.memory_base() == Register::RSP {
            return Err(Reason::NotMovable);
        }
        self.code.bytes.extend(MAKE_ROOM);
        self.distance(instruction.next_ip());
        self.code.bytes.extend(PUT_DOWN);
        if instruction.is_call_near() {
            self.jump(instruction.near_branch_target());
            return Ok(());
        }
        let mut jump = bytes.to_vec();
        let opcode = jump.iter().position(|byte| *byte == OPCODE);
        let operand = opcode.and_then(|at| jump.get_mut(at + 1)).ok_or(Reason::NotMovable)?;
        *operand ^= CALL_TO_JUMP;
        self.end(instruction, &jump, displacement)
    }

    fn jump(&mut self, target: u64) {
        self.code.bytes.push(JUMP);
        self.distance(target);
        self.has_ended = true;
    }

    fn distance(&mut self, target: u64) {
        let at = self.code.bytes.len() as u32;
        self.code.fixups.push(Fixup { at, target });
        self.code.bytes.extend([0; DISTANCE]);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    fn moved(bytes: &[u8]) -> Result<MovedCode, Reason> {
        let mut decoder = Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let offsets = decoder.get_constant_offsets(&instruction);
        let mut made = Moved::default();
        made.add(&instruction, bytes, offsets.displacement_offset(), 0x1005)?;
        Ok(made.finish(0x1000 + bytes.len() as u64))
    }

    #[test]
    fn a_plain_instruction_is_copied_and_jumped_back_from() {
        let code = moved(&[0x48, 0x89, 0xe5]).unwrap();
        assert_eq!(code.bytes, [0x48, 0x89, 0xe5, 0xe9, 0, 0, 0, 0]);
        assert_eq!(code.fixups, [Fixup { at: 4, target: 0x1003 }]);
    }

    #[test]
    fn a_distance_before_an_immediate_counts_from_the_end_of_the_instruction() {
        // cmpl $1, 0x10(%rip)
        let code = moved(&[0x83, 0x3d, 0x10, 0, 0, 0, 1]).unwrap();
        assert_eq!(code.fixups.first(), Some(&Fixup { at: 2, target: 0x1016 }));
    }

    #[test]
    fn short_branches_get_long() {
        let code = moved(&[0x74, 0x10]).unwrap();
        assert_eq!(code.bytes.get(..2), Some(&[0x0f, 0x84][..]));
        assert_eq!(code.fixups.first(), Some(&Fixup { at: 2, target: 0x1012 }));
    }

    #[test]
    fn what_is_called_returns_to_the_object() {
        let code = moved(&[0xe8, 0x10, 0, 0, 0]).unwrap();
        assert_eq!(
            code.fixups,
            [Fixup { at: 9, target: 0x1005 }, Fixup { at: 20, target: 0x1015 }]
        );
        // call *0x10(%rip)
        let code = moved(&[0xff, 0x15, 0x10, 0, 0, 0]).unwrap();
        assert_eq!(code.bytes.get(19..21), Some(&[0xff, 0x25][..]));
        // call *%rax, which would return into the jump
        assert_eq!(moved(&[0xff, 0xd0]), Err(Reason::NotMovable));
    }

    #[test]
    fn loops_do_not_move_and_no_operation_leaves_nothing() {
        assert_eq!(moved(&[0xe2, 0xfe]), Err(Reason::NotMovable));
        assert_eq!(moved(&[0xe3, 0x10]), Err(Reason::NotMovable));
        assert_eq!(moved(&[0x0f, 0x1f, 0x44, 0, 0]).unwrap().bytes.len(), 5);
    }
}
