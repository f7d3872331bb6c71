//! Which process and thread an event is of: what its contexts say of them.

use vestige_escapes::push_safe;

use super::options::Colors;
use super::width::columns;
use crate::bits::BitReader;
use crate::record::{array_length, text, until_nul, DecodeError, State};
use crate::text::digits::push_signed;
use crate::text::plan::FieldPlan;

/// What a member of a context means for the whole line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The process ID.
    Process,
    /// The thread ID.
    Thread,
    /// The name of the process or the thread.
    Name,
    /// The number of the CPU.
    Cpu,
    /// The address of the code.
    Address,
    /// What a function is called with, as text.
    Arguments,
    /// What a call ended with, as text.
    Result,
    /// Where a call comes from, which the call around it tells.
    Site,
    /// The call stack of a program.
    Stack,
}

/// What is known of the process, the thread and the code of an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Process ID.
    pub process: Option<i64>,
    /// Thread ID.
    pub thread: Option<i64>,
    /// Name of the process or the thread.
    pub name: &'a [u8],
    /// Number of the CPU.
    pub cpu: Option<i64>,
    /// Address of the code.
    pub address: Option<u64>,
    /// What a function is called with; empty when it is not known.
    pub arguments: &'a [u8],
    /// What a call ended with; empty when it is not known.
    pub result: &'a [u8],
    /// What the call stack of the program is; empty when it is not known.
    pub stack: &'a [u8],
}

impl<'a> Facts<'a> {
    /// Reads a member with a role.
    #[inline]
    pub fn read(
        &mut self,
        role: Role,
        plan: &FieldPlan,
        reader: &mut BitReader<'a>,
        state: &mut State,
    ) -> Result<(), DecodeError> {
        let text = match role {
            Role::Name => Some(&mut self.name),
            Role::Arguments => Some(&mut self.arguments),
            Role::Result => Some(&mut self.result),
            _ => None,
        };
        if let Some(text) = text {
            *text = text_value(plan, reader, state)?;
            return Ok(());
        }
        let (FieldPlan::Integer(class) | FieldPlan::Enumeration(class, _)) = plan else {
            return Ok(());
        };
        let value = state.integer(class, reader)?;
        match role {
            Role::Process => self.process = Some(value as i64),
            Role::Thread => self.thread = Some(value as i64),
            Role::Cpu => self.cpu = Some(value as i64),
            Role::Address => self.address = Some(value),
            Role::Name | Role::Arguments | Role::Result | Role::Site | Role::Stack => {}
        }
        Ok(())
    }

    fn is_same_thread(&self, other: &Facts<'_>) -> bool {
        let ids = |facts: &Facts<'_>| (facts.process, facts.thread, facts.cpu);
        ids(self) == ids(other) && self.name == other.name
    }
}

/// Whether a plan is of a field that can have a role.
pub fn can_have(role: Role, plan: &FieldPlan) -> bool {
    match role {
        Role::Name | Role::Arguments | Role::Result => {
            matches!(plan, FieldPlan::String | FieldPlan::Text(_))
                || matches!(plan, FieldPlan::Array(array) if array.text)
        }
        Role::Stack => matches!(plan, FieldPlan::Array(array) if !array.text),
        _ => matches!(plan, FieldPlan::Integer(_)),
    }
}

#[inline]
fn text_value<'a>(
    plan: &FieldPlan,
    reader: &mut BitReader<'a>,
    state: &State,
) -> Result<&'a [u8], DecodeError> {
    match plan {
        FieldPlan::Array(array) => {
            reader.align(array.alignment)?;
            let count = array_length(&array.length, array.element_bits, state, reader)?;
            Ok(until_nul(reader.bytes(count)?))
        }
        FieldPlan::Text(class) => text(class, reader, state),
        _ => {
            reader.align(8)?;
            Ok(reader.string()?)
        }
    }
}

/// The text of process and thread, kept as long as the events are of the same ones.
#[derive(Default)]
pub struct WhoText {
    name: Vec<u8>,
    ids: (Option<i64>, Option<i64>, Option<i64>),
    text: Vec<u8>,
    columns: usize,
    is_made: bool,
}

impl WhoText {
    /// The text and its columns.
    #[inline]
    pub fn of(&mut self, facts: &Facts<'_>, colors: &Colors) -> (&[u8], usize) {
        let (process, thread, cpu) = self.ids;
        let before = Facts { process, thread, cpu, name: &self.name, ..Facts::default() };
        if !self.is_made || !facts.is_same_thread(&before) {
            self.make(facts, colors);
        }
        (&self.text, self.columns)
    }

    fn make(&mut self, facts: &Facts<'_>, colors: &Colors) {
        self.is_made = true;
        self.name.clear();
        self.name.extend_from_slice(facts.name);
        self.ids = (facts.process, facts.thread, facts.cpu);
        let out = &mut self.text;
        out.clear();
        if let Some(cpu) = facts.cpu {
            out.push(b'[');
            push_signed(out, cpu);
            out.push(b']');
        }
        let color = facts.thread.or(facts.process).and_then(|id| {
            let count = colors.threads.len() as i64;
            colors.threads.get(id.rem_euclid(count) as usize)
        });
        let color = color.copied().unwrap_or_default();
        out.extend_from_slice(color.as_bytes());
        if !facts.name.is_empty() {
            separate(out, color);
            push_safe(out, facts.name, b"");
        }
        let mut any = false;
        for id in [facts.process, facts.thread.filter(|id| facts.process != Some(*id))] {
            let Some(id) = id else { continue };
            if any {
                out.push(b'/');
            } else {
                separate(out, color);
            }
            push_signed(out, id);
            any = true;
        }
        out.extend_from_slice(if color.is_empty() { b"" } else { colors.reset.as_bytes() });
        self.columns = columns(out);
    }
}

/// Appends a space between two parts.
fn separate(out: &mut Vec<u8>, color: &str) {
    if out.len() > color.len() {
        out.push(b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_and_thread_are_told_as_far_as_they_are_known() {
        let shown = |process, thread, cpu, name: &str| {
            let name = name.as_bytes();
            let facts = Facts { process, thread, cpu, name, ..Facts::default() };
            let mut who = WhoText::default();
            String::from_utf8(who.of(&facts, &Colors::default()).0.to_vec()).unwrap()
        };
        assert_eq!(shown(Some(12), Some(12), None, "shop"), "shop 12");
        assert_eq!(shown(Some(12), Some(13), None, "shop"), "shop 12/13");
        assert_eq!(shown(Some(12), Some(13), None, ""), "12/13");
        assert_eq!(shown(None, Some(13), Some(3), "a\x1bb"), "[3] a\\eb 13");
        assert_eq!(shown(None, None, Some(3), ""), "[3]");
        assert_eq!(shown(None, None, None, ""), "");
    }
}
