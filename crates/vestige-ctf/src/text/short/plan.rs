//! What is the same for all lines of a data stream or an event record class.

use std::sync::Arc;

use vestige_escapes::push_safe;

use super::layout::Layout;
use super::options::ShortOptions;
use super::who::{can_have, Facts, Role};
use super::width::{columns, push_spaces};
use crate::bits::BitReader;
use crate::kernel_symbols::KernelSymbols;
use crate::model::{EnvironmentValue, EventClass, FieldClass, FieldKind, TraceClass};
use crate::record::DecodeError;
use crate::stream::DataStream;
use crate::text::fields::FieldWriter;
use crate::text::options::Options;
use crate::text::plan::{push_field_name, FieldPlan};
use crate::text::plans::EventPlans;
use crate::text::snippet::Snippet;

/// Providers of function calls, whose events are shown without them.
const CALLS: [&str; 3] = ["lttng_ust_cyg_profile_fast:", "lttng_ust_cyg_profile:", PYTHON];
/// The provider of those that have arguments and results.
const PYTHON: &str = "vestige_python:";
/// Log levels of errors, up to the one of warnings.
const WARNING: i64 = 4;

/// The plans of one data stream.
pub struct StreamPlan {
    /// Whether it has a clock.
    pub timed: bool,
    /// The column of the trace with the space after it; empty when there is none.
    pub label: Snippet,
    /// What the environment says of the process.
    pub process: Option<i64>,
    /// Name of the process in the environment.
    pub name: Vec<u8>,
    /// The packet context.
    pub packet_context: Option<ScopePlan>,
    /// The common context of the records.
    pub event_context: Option<ScopePlan>,
    /// What is at addresses.
    pub symbols: Option<Arc<KernelSymbols>>,
    /// The plans of its event record classes.
    pub events: EventPlans<EventPlan>,
}

/// The plans of one event record class.
pub struct EventPlan {
    /// Its name with colours.
    pub name: Snippet,
    /// Columns of the name.
    pub columns: usize,
    /// The context of its own.
    pub context: Option<ScopePlan>,
    /// The payload.
    pub payload: Option<ScopePlan>,
}

/// Members of a scope: those that are shown as fields and those that have a role.
pub struct ScopePlan {
    alignment: u32,
    members: Vec<(Snippet, Option<Role>, FieldPlan)>,
}

impl StreamPlan {
    /// The plan of a data stream.
    pub fn new(stream: &DataStream, options: &ShortOptions, fields: &Options) -> Self {
        let trace = &stream.trace;
        let class = trace.stream_classes.get(stream.class);
        let packet = class.and_then(|class| class.packet_context.as_ref());
        let context = class.and_then(|class| class.event_context.as_ref());
        let has_thread = [packet, context].into_iter().flatten().any(|scope| {
            ["vpid", "pid", "vtid", "tid"].iter().any(|name| scope.member(name).is_some())
        });
        let (process, procname) = environment_of(trace);
        let symbols = if options.symbols { KernelSymbols::of(trace).map(Arc::new) } else { None };
        let fields = &with_symbols(fields, symbols.as_ref());
        let is_kernel = text_of(trace, "domain") == Some("kernel");
        let shows_cpu = is_kernel || !(has_thread || process.is_some());
        Self {
            timed: stream.has_clock(),
            label: label_of(stream.identity.index, options),
            process,
            name: procname,
            packet_context: packet.map(|class| ScopePlan::of_packet(class, fields, shows_cpu)),
            event_context: context.map(|class| ScopePlan::of_context(class, fields)),
            symbols,
            events: EventPlans::new(stream),
        }
    }
}

impl EventPlan {
    /// The plan of an event record class.
    #[cold]
    pub fn new(
        event: &EventClass,
        layout: &Layout<'_>,
        symbols: Option<&Arc<KernelSymbols>>,
    ) -> Self {
        let Layout { fields, colors, .. } = *layout;
        let options = &with_symbols(fields, symbols);
        let full = event.name.clone().unwrap_or_else(|| format!("event {}", event.id));
        let call = CALLS.iter().find_map(|provider| full.strip_prefix(provider));
        let call = call.filter(|name| matches!(*name, "func_entry" | "func_exit"));
        let is_python = full.starts_with(PYTHON);
        let is_coroutine = is_python && full.contains(":coroutine_") && layout.options.indent;
        let color = match (call, event.log_level) {
            (Some("func_exit"), _) => colors.dim,
            (Some(_), _) => "",
            (None, Some(0..WARNING)) => colors.alarm,
            (None, Some(WARNING)) => colors.warning,
            _ => colors.event,
        };
        let mut name = color.as_bytes().to_vec();
        push_safe(&mut name, call.unwrap_or(&full).as_bytes(), b"");
        if !color.is_empty() {
            name.extend_from_slice(colors.reset.as_bytes());
        }
        let payload = |class: &FieldClass| {
            ScopePlan::new(class, options, |name| match name {
                // The address of a call is what its place tells.
                "addr" if call.is_some() || is_coroutine => Some(Role::Address),
                "call_site" if call.is_some() && layout.options.indent => Some(Role::Site),
                "arguments" if is_python => Some(Role::Arguments),
                "result" if is_python => Some(Role::Result),
                _ => None,
            })
        };
        Self {
            columns: columns(&name),
            name: Snippet::new(&name),
            context: event.context.as_ref().map(|class| ScopePlan::of_context(class, options)),
            payload: event.payload.as_ref().map(payload),
        }
    }
}

impl ScopePlan {
    fn of_packet(class: &FieldClass, options: &Options, shows_cpu: bool) -> Self {
        let mut plan = Self::new(class, options, |name| match name {
            "cpu_id" => Some(Role::Cpu),
            name => context_role(class, name),
        });
        if !shows_cpu {
            for ((_, role, plan), member) in plan.members.iter_mut().zip(class.members()) {
                if *role == Some(Role::Cpu) {
                    (*role, *plan) = (None, FieldPlan::Hidden(member.class.clone()));
                }
            }
        }
        plan
    }

    fn of_context(class: &FieldClass, options: &Options) -> Self {
        Self::new(class, options, |name| context_role(class, name))
    }

    fn new(class: &FieldClass, options: &Options, role: impl Fn(&str) -> Option<Role>) -> Self {
        let FieldKind::Structure { members, alignment } = &class.kind else {
            let plan = FieldPlan::new(class, options, true);
            return Self { alignment: 1, members: vec![(Snippet::default(), None, plan)] };
        };
        let plan = |member: &crate::model::Member| {
            let visible = class.visible && member.class.visible;
            // What has a role is read whether it is shown or not.
            let plain = FieldClass { visible: true, ..member.class.clone() };
            let plan = FieldPlan::new(&plain, options, true);
            let role = role(member.name()).filter(|role| can_have(*role, &plan));
            if role.is_none() && !visible {
                return (Snippet::default(), None, FieldPlan::Hidden(member.class.clone()));
            }
            let mut before = Vec::new();
            push_field_name(&mut before, options, member.name());
            (Snippet::new(&before), role, plan)
        };
        Self { alignment: *alignment, members: members.iter().map(plan).collect() }
    }

    /// Decodes the scope: members with a role go into `facts`, others are written with a
    /// space between them and what stands from `start` on.
    ///
    /// # Errors
    ///
    /// When a field does not fit the data.
    #[inline]
    pub fn write<'a>(
        &self,
        writer: &mut FieldWriter<'_>,
        reader: &mut BitReader<'a>,
        facts: &mut Facts<'a>,
        start: usize,
    ) -> Result<(), DecodeError> {
        reader.align(self.alignment)?;
        for (before, role, plan) in &self.members {
            match (role, plan) {
                (Some(Role::Stack), plan) => {
                    if writer.out.len() > start {
                        writer.out.push(b' ');
                    }
                    before.push(writer.out);
                    let length = writer.out.len();
                    writer.field(plan, reader)?;
                    if !facts.stack.is_empty() {
                        writer.out.truncate(length);
                        writer.out.extend_from_slice(facts.stack);
                    }
                }
                (Some(role), plan) => facts.read(*role, plan, reader, writer.state)?,
                (None, FieldPlan::Hidden(_)) => writer.field(plan, reader)?,
                (None, plan) => {
                    if writer.out.len() > start {
                        writer.out.push(b' ');
                    }
                    before.push(writer.out);
                    writer.field(plan, reader)?;
                }
            }
        }
        Ok(())
    }
}

fn with_symbols(fields: &Options, symbols: Option<&Arc<KernelSymbols>>) -> Options {
    Options { symbols: symbols.cloned(), ..fields.clone() }
}

/// The role of a member of a context. IDs in the process's own namespace come first.
fn context_role(class: &FieldClass, name: &str) -> Option<Role> {
    match name {
        "vpid" => Some(Role::Process),
        "vtid" => Some(Role::Thread),
        "pid" if class.member("vpid").is_none() => Some(Role::Process),
        "tid" if class.member("vtid").is_none() => Some(Role::Thread),
        "procname" => Some(Role::Name),
        "ip" => Some(Role::Address),
        "callstack_user" => Some(Role::Stack),
        _ => None,
    }
}

/// The process of a whole trace and its name, where its tracer made one for each process.
fn environment_of(trace: &TraceClass) -> (Option<i64>, Vec<u8>) {
    let process = trace.environment.iter().find_map(|(key, value)| match value {
        EnvironmentValue::Integer(value) if key == "vpid" => Some(*value),
        _ => None,
    });
    (process, text_of(trace, "procname").unwrap_or_default().as_bytes().to_vec())
}

fn text_of<'a>(trace: &'a TraceClass, name: &str) -> Option<&'a str> {
    trace.environment.iter().find_map(|(key, value)| match value {
        EnvironmentValue::String(text) if key == name => Some(text.as_str()),
        _ => None,
    })
}

/// The column of a trace, as wide as those of all traces.
fn label_of(trace: usize, options: &ShortOptions) -> Snippet {
    let text = |label: &str| {
        let mut text = Vec::new();
        push_safe(&mut text, label.as_bytes(), b"");
        text
    };
    let widths = options.labels.iter().map(|(_, label)| columns(&text(label)));
    let Some(widest) = widths.max() else { return Snippet::default() };
    let label = options.labels.iter().find(|(key, _)| *key == trace);
    let mut out = label.map_or_else(Vec::new, |(_, label)| text(label));
    let missing = widest.saturating_sub(columns(&out));
    push_spaces(&mut out, missing + 2);
    Snippet::new(&out)
}
