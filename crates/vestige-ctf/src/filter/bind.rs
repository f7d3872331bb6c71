//! Finds the fields of an expression in an event record class, and checks its types.

use super::agreement::EXPRESSION_DEPTH;
use super::code::{Instruction, Operation, Value};
use super::fetch::{type_of, Type};
use super::guard::Guards;
use super::path::{context_path, field_path, Path, Segment};
use super::pattern::Pattern;
use super::program::Program;
use super::step::{Bits, Change, Comparison, Operand, Step};
use super::walk::{Walk, Want};
use crate::model::{EnvironmentValue, EventClass, FieldClass, FieldKind, StreamClass, TraceClass};

/// Contexts that the trace environment has where a trace is of one process.
const OF_PROCESS: [&str; 2] = ["vpid", "procname"];
/// The scopes of a record's body, in their order.
const SCOPES: usize = 3;
const COMMON: usize = 0;
const SPECIFIC: usize = 1;
const PAYLOAD: usize = 2;

/// A field that does not stand in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outer {
    /// One of the packet context.
    Packet(Path),
    /// One that a filter added to the common context.
    Added(Path),
}

/// Where expressions are bound to.
pub struct Place<'a> {
    /// The trace class.
    pub trace: &'a TraceClass,
    /// The stream class.
    pub stream: &'a StreamClass,
    /// The structure of what filters add to the common context, where expressions are about
    /// records of a merge: what is known while records are found is not known then.
    pub added: Option<&'a FieldClass>,
}

/// Binds an expression to an event record class; `None` when it is true for none of its
/// records. Fields that it needs and that do not stand in the record are added to `outer`.
pub fn bind(
    code: &[Instruction],
    at: &Place<'_>,
    event: &EventClass,
    outer: &mut Vec<Outer>,
) -> Option<Program> {
    let Place { trace, stream, added } = *at;
    let scopes = [&stream.event_context, &event.context, &event.payload].map(Option::as_ref);
    let mut binder = Binder {
        trace,
        packet_context: stream.packet_context.as_ref(),
        added,
        scopes,
        count: code.len(),
        types: Vec::new(),
        skips: Vec::new(),
        fields: Vec::new(),
        outer,
        program: Program::default(),
    };
    for (place, instruction) in code.iter().enumerate() {
        binder.end_skips(place)?;
        let step = binder.step(instruction, place)?;
        binder.program.steps.push(step);
    }
    binder.program.steps.last().filter(|step| matches!(step, Step::Return))?;
    let place = |(scope, path): &(usize, Path)| {
        if added.is_some() {
            return None;
        }
        let class = member_at(*scopes.get(*scope)?.as_ref()?, path)?;
        crate::record::Program::place_of(scopes.into_iter().flatten(), class)
    };
    let places: Vec<_> = binder.fields.iter().map(place).collect();
    let mut wants = vec![Vec::new(); SCOPES];
    for (slot, (scope, path)) in binder.fields.iter().enumerate() {
        let is_placed = places.get(slot).is_some_and(Option::is_some);
        if !is_placed {
            wants.get_mut(*scope)?.push(Want { path: path.clone(), slot: slot as u32 });
        }
    }
    let mut program = binder.program;
    let walked = scopes.into_iter().zip(wants);
    program.walk = Walk::new(walked.filter_map(|(scope, wants)| Some((scope?, wants))));
    program.join_steps();
    program.guards = Guards::new(&program.steps, &places);
    program.places = places;
    Some(program)
}

/// The field that a path of members leads to through structures.
fn member_at<'a>(class: &'a FieldClass, path: &[Segment]) -> Option<&'a FieldClass> {
    path.iter().try_fold(class, |class, segment| match (segment, &class.kind) {
        (Segment::Member(name), FieldKind::Structure { .. }) => Some(class.member(name)?.1),
        _ => None,
    })
}

/// Where a skip leads, and how many values are there then.
struct Skip {
    target: usize,
    depth: usize,
}

struct Binder<'a> {
    trace: &'a TraceClass,
    packet_context: Option<&'a FieldClass>,
    added: Option<&'a FieldClass>,
    scopes: [Option<&'a FieldClass>; SCOPES],
    count: usize,
    types: Vec<Type>,
    /// The inner ones come last, and end first.
    skips: Vec<Skip>,
    /// Fields of the body: scope and path.
    fields: Vec<(usize, Path)>,
    outer: &'a mut Vec<Outer>,
    program: Program,
}

impl Binder<'_> {
    fn step(&mut self, instruction: &Instruction, place: usize) -> Option<Step> {
        let Instruction { operation, argument, value } = instruction;
        match (operation, value) {
            (Operation::Return, _) => {
                let is_end = place + 1 == self.count && self.types.len() == 1;
                (is_end && self.top_is_integer()).then_some(Step::Return)
            }
            (Operation::Integer, Value::Integer(value)) => {
                self.push(Type::Integer, Step::Push(Operand::Integer(*value)))
            }
            (Operation::Real, Value::Real(value)) => {
                self.push(Type::Real, Step::Push(Operand::Real(*value)))
            }
            (Operation::Text, Value::Bytes(text)) => self.constant(text.clone()),
            (Operation::Field, Value::Bytes(name)) => self.field(field_path(name)?),
            (Operation::Element, Value::Bytes(name)) => {
                let mut path = field_path(name)?;
                path.push(Segment::Element(u64::from(*argument)));
                self.field(path)
            }
            (Operation::Context, Value::Bytes(name)) => self.context(context_path(name)?),
            (Operation::Matches | Operation::MatchesNot, Value::Bytes(pattern)) => {
                self.pattern(pattern, *operation == Operation::Matches)
            }
            (Operation::SkipIfFalse | Operation::SkipIfTrue, _) => {
                self.skip(*operation == Operation::SkipIfTrue, place, *argument)
            }
            _ => self.change(*operation).or_else(|| self.two(*operation)),
        }
    }

    fn push(&mut self, kind: Type, step: Step) -> Option<Step> {
        if self.types.len() == EXPRESSION_DEPTH {
            return None;
        }
        self.types.push(kind);
        Some(step)
    }

    fn constant(&mut self, text: Vec<u8>) -> Option<Step> {
        let index = self.program.texts.len() as u32;
        self.program.texts.push(text);
        self.push(Type::Text, Step::Push(Operand::Constant(index)))
    }

    /// Whether so many values may be taken: those below a skip's belong to both ways.
    fn has(&self, wanted: usize) -> bool {
        let below = self.skips.last().map_or(0, |skip| skip.depth.saturating_sub(1));
        self.types.len() >= below + wanted
    }

    fn top_is_integer(&self) -> bool {
        matches!(self.types.last(), Some(Type::Integer | Type::Any))
    }

    fn field(&mut self, path: Path) -> Option<Step> {
        let kind = type_of(self.scopes.get(PAYLOAD).copied().flatten()?, &path)?;
        self.of_body(PAYLOAD, path, kind)
    }

    fn of_body(&mut self, scope: usize, path: Path, kind: Type) -> Option<Step> {
        let wanted = (scope, path);
        let known = self.fields.iter().position(|field| *field == wanted);
        let slot = known.unwrap_or_else(|| {
            self.fields.push(wanted);
            self.fields.len() - 1
        });
        self.push(kind, Step::Field(slot as u32))
    }

    /// The context that is closest to the record.
    fn context(&mut self, path: Path) -> Option<Step> {
        for scope in [SPECIFIC, COMMON] {
            let class = self.scopes.get(scope).copied().flatten();
            if let Some(kind) = class.and_then(|class| type_of(class, &path)) {
                return self.of_body(scope, path, kind);
            }
        }
        if let Some(kind) = self.added.and_then(|class| type_of(class, &path)) {
            return self.of_outer(Outer::Added(path), kind);
        }
        if let Some(kind) = self.packet_context.and_then(|class| type_of(class, &path)) {
            return self.of_outer(Outer::Packet(path), kind);
        }
        self.of_trace(&path)
    }

    fn of_outer(&mut self, wanted: Outer, kind: Type) -> Option<Step> {
        let known = self.outer.iter().position(|other| *other == wanted);
        let slot = known.unwrap_or_else(|| {
            self.outer.push(wanted);
            self.outer.len() - 1
        });
        self.push(kind, Step::Outer(slot as u32))
    }

    fn of_trace(&mut self, path: &[Segment]) -> Option<Step> {
        let [Segment::Member(name)] = path else { return None };
        OF_PROCESS.contains(&name.as_str()).then_some(())?;
        let entry = self.trace.environment.iter().find(|(key, _)| key == name)?;
        match &entry.1 {
            EnvironmentValue::Integer(value) => {
                self.push(Type::Integer, Step::Push(Operand::Integer(*value)))
            }
            EnvironmentValue::String(text) => self.constant(text.clone().into_bytes()),
        }
    }

    fn pattern(&mut self, bytes: &[u8], wanted: bool) -> Option<Step> {
        let top = self.types.last_mut()?;
        if !matches!(top, Type::Text | Type::Any) {
            return None;
        }
        *top = Type::Integer;
        self.has(1).then_some(())?;
        let index = self.program.patterns.len() as u32;
        self.program.patterns.push(Pattern::new(bytes));
        Some(Step::Matches(index, wanted))
    }

    fn change(&mut self, operation: Operation) -> Option<Step> {
        let change = match operation {
            Operation::Minus => Change::Minus,
            Operation::Not => Change::Not,
            Operation::Complement => Change::Complement,
            Operation::ToInteger => Change::ToInteger,
            _ => return None,
        };
        self.has(1).then_some(())?;
        let top = self.types.last_mut()?;
        let is_real = *top == Type::Real;
        if *top == Type::Text || (is_real && change == Change::Complement) {
            return None;
        }
        if change != Change::Minus {
            *top = Type::Integer;
        }
        Some(Step::Change(change))
    }

    /// An operation on two values.
    fn two(&mut self, operation: Operation) -> Option<Step> {
        let step = match operation {
            Operation::ShiftLeft => Step::Bits(Bits::ShiftLeft),
            Operation::ShiftRight => Step::Bits(Bits::ShiftRight),
            Operation::And => Step::Bits(Bits::And),
            Operation::Xor => Step::Bits(Bits::Xor),
            Operation::Or => Step::Bits(Bits::Or),
            Operation::Less => Step::Compare(Comparison::Less),
            Operation::LessEqual => Step::Compare(Comparison::LessEqual),
            Operation::Greater => Step::Compare(Comparison::Greater),
            Operation::GreaterEqual => Step::Compare(Comparison::GreaterEqual),
            Operation::Equal => Step::Compare(Comparison::Equal),
            Operation::NotEqual => Step::Compare(Comparison::NotEqual),
            _ => return None,
        };
        self.has(2).then_some(())?;
        let (right, left) = (self.types.pop()?, self.types.pop()?);
        let fits = match step {
            Step::Compare(comparison) => comparable(comparison, left, right),
            _ => [left, right].iter().all(|kind| matches!(kind, Type::Integer | Type::Any)),
        };
        self.types.push(Type::Integer);
        fits.then_some(step)
    }

    fn skip(&mut self, wanted: bool, place: usize, target: u32) -> Option<Step> {
        let end = target as usize;
        let outer = self.skips.last().map_or(self.count, |skip| skip.target + 1);
        if !self.has(1)
            || !self.top_is_integer()
            || end <= place
            || end >= self.count
            || end >= outer
        {
            return None;
        }
        self.skips.push(Skip { target: end, depth: self.types.len() });
        self.types.pop();
        Some(Step::Skip(wanted, target))
    }

    /// At the target of a skip, both ways must have left the same.
    fn end_skips(&mut self, place: usize) -> Option<()> {
        while self.skips.last().is_some_and(|skip| skip.target == place) {
            let skip = self.skips.pop()?;
            if self.types.len() != skip.depth || !self.top_is_integer() {
                return None;
            }
        }
        Some(())
    }
}

fn comparable(comparison: Comparison, left: Type, right: Type) -> bool {
    match (left, right) {
        (Type::Any, _) | (_, Type::Any) => true,
        (Type::Text, Type::Text) => {
            matches!(comparison, Comparison::Equal | Comparison::NotEqual)
        }
        _ => left != Type::Text && right != Type::Text,
    }
}
