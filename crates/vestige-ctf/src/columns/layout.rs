//! The columns of a selection: which there are, in which order, under which names.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::gather::{Entry, Gathered, StreamEntries};
use super::naming::unique;
use super::node::Node;
use super::plan::{stream_plan, StreamPlan};
use super::types::{Column, ColumnType};
use crate::model::{ClockClass, ClockOrigin, FieldClass, FieldKind};
use crate::scope::{Origin, Scope};
use crate::stream::DataStream;

/// A data stream with what is wanted of it.
#[derive(Clone)]
pub struct StreamInput {
    /// The data stream.
    pub stream: Arc<DataStream>,
    /// Its ID, as users see it.
    pub id: u64,
    /// Per event record class whether it is wanted; all when absent.
    pub classes: Option<Vec<bool>>,
}

/// A field that a filter adds to event records.
#[derive(Debug, Clone)]
pub struct AddedField {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: Arc<FieldClass>,
}

/// How the values of an added field get into their column.
pub(super) struct AddedPlan {
    /// The name of the field.
    pub name: String,
    /// The column.
    pub to: usize,
    /// The parts of the field.
    pub node: Node,
    /// Whether all its members are texts, of which each is kept once.
    pub is_texts: bool,
}

/// What the column of times holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeType {
    /// Nanoseconds since the Unix epoch, in UTC.
    Timestamp,
    /// Nanoseconds since the origin of the clock.
    Duration,
    /// The same number without a unit.
    Integer,
}

/// What columns are wanted, and of which types.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Names of the wanted columns in order; all by default.
    pub columns: Option<Vec<String>>,
    /// Whether enumerations become labels; else they are integers.
    pub labels: bool,
    /// Whether strings are encoded with a dictionary.
    pub dictionary: bool,
    /// What times are; by default what the clocks tell.
    pub time: Option<TimeType>,
    /// The fields that filters add to event records.
    pub added: Vec<AddedField>,
}

/// A wanted column that the selection does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownColumn {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<String>,
}

/// Indexes of the columns that are no fields; `None` for those that are not wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedColumns {
    /// Time.
    pub timestamp: Option<usize>,
    /// Name of the trace.
    pub trace: Option<usize>,
    /// Name of the event record class.
    pub event: Option<usize>,
    /// ID of the data stream.
    pub stream_id: Option<usize>,
    /// The numbers of [`Origin::NUMBERS`].
    pub origins: [Option<usize>; Origin::NUMBERS.len()],
}

/// The columns of a selection, and how event records get into them.
pub struct Layout {
    /// The columns in order.
    pub columns: Vec<Column>,
    /// How many columns there are with all parts of nested ones.
    pub builders: usize,
    /// The columns that are no fields.
    pub(super) fixed: FixedColumns,
    /// The fields that filters add, as far as they are columns.
    pub(super) added: Vec<AddedPlan>,
    /// Plans by the address of their data stream, which `inputs` keeps alive.
    plans: HashMap<usize, Arc<StreamPlan>>,
    inputs: Vec<StreamInput>,
}

/// Where the values of a column come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Timestamp,
    Trace,
    Event,
    StreamId,
    /// The index of one of [`Origin::NUMBERS`].
    Origin(usize),
    Field(usize),
    /// The index of a field that a filter adds.
    Added(usize),
}

/// A column that could be wanted.
struct Candidate {
    column: Column,
    /// A name that it has whatever other columns there are.
    qualified: Option<String>,
    source: Source,
}

const TIMESTAMP: &str = "timestamp";
const TRACE: &str = "trace";
const EVENT: &str = "event";
const STREAM_ID: &str = "stream_id";

impl AddedField {
    fn plan(&self, column: &Column) -> AddedPlan {
        let is_text = |class: &FieldClass| matches!(class.kind, FieldKind::String);
        let is_texts = matches!(self.class.kind, FieldKind::Structure { .. })
            && self.class.members().iter().all(|member| is_text(&member.class));
        let node = Node::new(&self.class, Some(column));
        AddedPlan { name: self.name.clone(), to: column.id, node, is_texts }
    }
}

impl Layout {
    /// The layout of the wanted columns of some data streams.
    ///
    /// # Errors
    ///
    /// A wanted column that there is not.
    pub fn new(inputs: Vec<StreamInput>, options: &Options) -> Result<Self, UnknownColumn> {
        let mut gathered = Gathered::default();
        let groups = gather(&inputs, &mut gathered, options);
        let names = Names::of(&inputs);
        let candidates = candidates(&inputs, &gathered, &names, options);
        let chosen = choose(candidates, options)?;
        let mut builders = 0;
        let mut columns = Vec::with_capacity(chosen.len());
        let mut fixed = FixedColumns::default();
        let mut fields: HashMap<usize, Column> = HashMap::new();
        let mut added = Vec::new();
        for Candidate { mut column, source, .. } in chosen {
            column.number(&mut builders);
            let id = Some(column.id);
            match source {
                Source::Timestamp => fixed.timestamp = id,
                Source::Trace => fixed.trace = id,
                Source::Event => fixed.event = id,
                Source::StreamId => fixed.stream_id = id,
                Source::Origin(number) => {
                    if let Some(place) = fixed.origins.get_mut(number) {
                        *place = id;
                    }
                }
                Source::Added(index) => {
                    added.extend(options.added.get(index).map(|one| one.plan(&column)));
                }
                Source::Field(entry) => drop(fields.insert(entry, column.clone())),
            }
            columns.push(column);
        }
        let mut plans = HashMap::new();
        for (input, entries) in inputs.iter().zip(&groups) {
            let trace = names.trace(input);
            let plan = stream_plan(input, entries, &fields, &fixed.origins, trace, &names.events);
            plans.insert(Arc::as_ptr(&input.stream) as usize, Arc::new(plan));
        }
        Ok(Self { columns, builders, fixed, added, plans, inputs })
    }

    /// The plan of a data stream.
    pub(super) fn plan(&self, stream: &Arc<DataStream>) -> Option<&StreamPlan> {
        self.plans.get(&(Arc::as_ptr(stream) as usize)).map(Arc::as_ref)
    }

    /// About how many bytes a row takes.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        self.columns.iter().map(|column| column.kind.width()).sum::<u64>().max(1)
    }

    /// The data streams.
    #[must_use]
    pub fn inputs(&self) -> &[StreamInput] {
        &self.inputs
    }
}

/// What tells stream classes apart: the address of the trace class, the index in it, and
/// which event record classes are wanted.
type ClassKey = (usize, usize, Option<Vec<bool>>);

fn gather(
    inputs: &[StreamInput],
    gathered: &mut Gathered,
    options: &Options,
) -> Vec<Arc<StreamEntries>> {
    let mut known: HashMap<ClassKey, Arc<StreamEntries>> = HashMap::new();
    let mut groups = Vec::with_capacity(inputs.len());
    for input in inputs {
        let stream = &input.stream;
        let key = (Arc::as_ptr(&stream.trace) as usize, stream.class, input.classes.clone());
        let entries = known.entry(key).or_insert_with(|| {
            let class = stream.trace.stream_classes.get(stream.class);
            let wanted = input.classes.as_deref();
            Arc::new(class.map_or_else(StreamEntries::default, |class| {
                gathered.stream(class, wanted, options)
            }))
        });
        groups.push(Arc::clone(entries));
    }
    groups
}

/// The names that become labels: of traces and of wanted event record classes.
pub struct Names {
    traces: Vec<String>,
    several_traces: bool,
    /// Names of event record classes with their indexes.
    pub events: HashMap<String, u64>,
    event_labels: Vec<String>,
}

impl Names {
    fn of(inputs: &[StreamInput]) -> Self {
        let mut traces: Vec<String> = Vec::new();
        let mut indexes = HashSet::new();
        let mut events = HashMap::new();
        let mut event_labels = Vec::new();
        for input in inputs {
            let identity = &input.stream.identity;
            if indexes.insert(identity.index) && !traces.contains(&identity.name) {
                traces.push(identity.name.clone());
            }
            let Some(class) = input.stream.trace.stream_classes.get(input.stream.class) else {
                continue;
            };
            for (index, event) in class.event_classes.iter().enumerate() {
                let wanted = input.classes.as_ref();
                let wanted = wanted.is_none_or(|w| w.get(index).copied().unwrap_or(false));
                if let (true, Some(name)) = (wanted, &event.name) {
                    events.entry(name.clone()).or_insert_with(|| {
                        event_labels.push(name.clone());
                        event_labels.len() as u64 - 1
                    });
                }
            }
        }
        Self { traces, several_traces: indexes.len() > 1, events, event_labels }
    }

    fn trace(&self, input: &StreamInput) -> u64 {
        let name = &input.stream.identity.name;
        self.traces.iter().position(|known| known == name).unwrap_or(0) as u64
    }
}

/// All columns that there are, in order.
fn candidates(
    inputs: &[StreamInput],
    gathered: &Gathered,
    names: &Names,
    options: &Options,
) -> Vec<Candidate> {
    let fixed = |name: &str, kind, nullable, source| Candidate {
        column: Column { nullable, ..Column::new(name, kind) },
        qualified: None,
        source,
    };
    let untimed = inputs.iter().any(|input| !input.stream.has_clock());
    let unnamed = inputs.iter().any(has_unnamed_events);
    let mut found = vec![fixed(TIMESTAMP, time_type(inputs, options), untimed, Source::Timestamp)];
    if names.several_traces {
        let kind = ColumnType::Dictionary(names.traces.clone());
        found.push(fixed(TRACE, kind, false, Source::Trace));
    }
    let kind = ColumnType::Dictionary(names.event_labels.clone());
    found.push(fixed(EVENT, kind, unnamed, Source::Event));
    let kind = ColumnType::Integer { bits: 64, signed: false };
    found.push(fixed(STREAM_ID, kind, false, Source::StreamId));
    found.extend(origin_columns(inputs));
    let shown = field_names(gathered, options);
    for scope in [Scope::Packet, Scope::Common, Scope::Specific, Scope::Payload] {
        for (index, (entry, name)) in gathered.entries.iter().zip(&shown).enumerate() {
            if entry.scope == scope {
                found.push(Candidate {
                    column: Column {
                        nullable: entry.optional || entry.users < gathered.classes,
                        ..Column::new(name, entry.kind.clone())
                    },
                    qualified: Some(qualified(entry)),
                    source: Source::Field(index),
                });
            }
        }
    }
    // Filters give many records the same value.
    let options = &Options { dictionary: true, ..options.clone() };
    for (index, one) in options.added.iter().enumerate() {
        let kind = ColumnType::of(&one.class, options);
        found.push(fixed(&one.name, kind, true, Source::Added(index)));
    }
    found
}

/// The columns of where event records come from, as far as any of them tells.
fn origin_columns(inputs: &[StreamInput]) -> Vec<Candidate> {
    let classes: Vec<(&DataStream, usize)> = inputs.iter().flat_map(wanted_classes).collect();
    let column = |(number, origin): (usize, Origin)| {
        let told = classes.iter().filter(|(stream, class)| origin.find(stream, *class).is_some());
        let told = told.count();
        let kind = ColumnType::Integer { bits: 64, signed: true };
        (told > 0).then(|| Candidate {
            column: Column { nullable: told < classes.len(), ..Column::new(origin.name(), kind) },
            qualified: None,
            source: Source::Origin(number),
        })
    };
    Origin::NUMBERS.into_iter().enumerate().filter_map(column).collect()
}

/// The event record classes of a data stream that are wanted, by their indexes.
fn wanted_classes(input: &StreamInput) -> impl Iterator<Item = (&DataStream, usize)> {
    let class = input.stream.trace.stream_classes.get(input.stream.class);
    let count = class.map_or(0, |class| class.event_classes.len());
    let is_wanted = |index: &usize| {
        let wanted = input.classes.as_ref();
        wanted.is_none_or(|wanted| wanted.get(*index).copied().unwrap_or(false))
    };
    (0..count).filter(is_wanted).map(|index| (input.stream.as_ref(), index))
}

fn has_unnamed_events(input: &StreamInput) -> bool {
    let class = input.stream.trace.stream_classes.get(input.stream.class);
    class.is_some_and(|class| class.event_classes.iter().any(|event| event.name.is_none()))
}

/// The name of a field that does not depend on other scopes.
fn qualified(entry: &Entry) -> String {
    let plain = format!("{}{}", entry.scope.prefix(), entry.name);
    if entry.again {
        format!("{plain}_{}", entry.kind.word())
    } else {
        plain
    }
}

/// The names of the columns of all entries. A payload field has its own name, unless it is
/// that of a column which is no field; a field of another scope has it when no field of the
/// scopes before has it.
fn field_names(gathered: &Gathered, options: &Options) -> Vec<String> {
    let mut taken: HashSet<String> =
        [TIMESTAMP, TRACE, EVENT, STREAM_ID].into_iter().map(str::to_owned).collect();
    taken.extend(Origin::NUMBERS.into_iter().map(|origin| origin.name().to_owned()));
    taken.extend(options.added.iter().map(|one| one.name.clone()));
    let mut names = vec![String::new(); gathered.entries.len()];
    for scope in [Scope::Payload, Scope::Specific, Scope::Common, Scope::Packet] {
        for (entry, name) in gathered.entries.iter().zip(&mut names) {
            if entry.scope != scope {
                continue;
            }
            let plain = if entry.again {
                format!("{}_{}", entry.name, entry.kind.word())
            } else {
                entry.name.clone()
            };
            *name = if taken.contains(&plain) {
                unique(&qualified(entry), &mut taken)
            } else {
                unique(&plain, &mut taken)
            };
        }
    }
    names
}

fn time_type(inputs: &[StreamInput], options: &Options) -> ColumnType {
    let clocks = inputs.iter().filter_map(|input| {
        let trace = &input.stream.trace;
        let class = trace.stream_classes.get(input.stream.class)?;
        trace.clocks.get(class.clock?).map(|clock| counts_from_epoch(clock, trace.version.0))
    });
    match options.time {
        Some(TimeType::Timestamp) => ColumnType::Timestamp,
        Some(TimeType::Duration) => ColumnType::Duration,
        Some(TimeType::Integer) => ColumnType::Integer { bits: 64, signed: true },
        None if clocks.into_iter().all(|from_epoch| from_epoch) => ColumnType::Timestamp,
        None => ColumnType::Duration,
    }
}

/// Whether the times of a clock are real times. CTF 2 says so. With CTF 1.8, a tracer that
/// gives its clock an offset does it to make them real: section 8 of CTF 1.8.3 measures the
/// offset from the Unix epoch.
fn counts_from_epoch(clock: &ClockClass, major: u64) -> bool {
    match clock.origin {
        ClockOrigin::UnixEpoch => true,
        ClockOrigin::Custom { .. } => false,
        ClockOrigin::Unknown if major >= 2 => false,
        ClockOrigin::Unknown => {
            clock.absolute || clock.offset_seconds != 0 || clock.offset_cycles != 0
        }
    }
}

/// The wanted ones of all columns, in the order in which they are wanted.
fn choose(candidates: Vec<Candidate>, options: &Options) -> Result<Vec<Candidate>, UnknownColumn> {
    let Some(wanted) = &options.columns else { return Ok(candidates) };
    let known = |candidates: &[Option<Candidate>], name: &str| {
        let at = |test: &dyn Fn(&Candidate) -> bool| {
            candidates.iter().position(|candidate| candidate.as_ref().is_some_and(test))
        };
        at(&|candidate| candidate.column.name == name)
            .or_else(|| at(&|candidate| candidate.qualified.as_deref() == Some(name)))
    };
    let names: Vec<String> = candidates.iter().map(|c| c.column.name.clone()).collect();
    let mut left: Vec<Option<Candidate>> = candidates.into_iter().map(Some).collect();
    let mut chosen: Vec<Candidate> = Vec::with_capacity(wanted.len());
    for name in wanted {
        let taken = |candidate: &Candidate| {
            candidate.column.name == *name || candidate.qualified.as_ref() == Some(name)
        };
        match known(&left, name).and_then(|index| left.get_mut(index)).and_then(Option::take) {
            Some(mut candidate) => {
                candidate.column.name.clone_from(name);
                chosen.push(candidate);
            }
            // Wanted twice is wanted.
            None if chosen.iter().any(taken) => {}
            None => return Err(UnknownColumn { name: name.clone(), known: names }),
        }
    }
    Ok(chosen)
}
