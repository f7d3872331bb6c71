//! What each record of a merge is, and who made it, read on all cores.

use std::collections::HashMap;
use std::sync::Arc;

use super::count::EventCount;
use super::fields::{KeyField, OfPacket, WhoFields};
use super::pairs::{PairSpec, Role, Seen};
use super::who::Who;
use crate::model::EventClass;
use crate::places::scan::RecordTask;
use crate::record::State;
use crate::stream::{Batch, DataStream, Part, Record};

/// What the records of a class are.
struct ClassLayout {
    /// Index of its name.
    name: usize,
    who: WhoFields,
    roles: Vec<ClassRole>,
}

/// What the records of a class mean for pairs.
struct ClassRole {
    role: Role,
    key: Option<KeyField>,
    label: Option<KeyField>,
}

/// The records of switches, and their fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchSpec {
    /// Name of the class.
    pub name: String,
    /// The field with the thread that runs from then on.
    pub thread: String,
    /// The field with its name.
    pub label: String,
}

/// What the records of a data stream are.
pub struct Layout {
    classes: Vec<ClassLayout>,
}

impl Layout {
    /// That of a data stream whose event record classes have names with some indexes.
    pub fn of(
        stream: &DataStream,
        names: &[usize],
        pairs: &[PairSpec],
        switch: Option<&SwitchSpec>,
    ) -> Self {
        let class = stream.trace.stream_classes.get(stream.class);
        let classes = class.map_or(&[][..], |class| &class.event_classes);
        let layout = |(event, (class, name)): (usize, (&EventClass, &usize))| {
            let find = |field: &String| KeyField::find(stream, event, field);
            let roles = class.name.iter().flat_map(|name| roles(name, pairs, switch));
            let roles = roles.filter_map(|wanted| {
                // Without the field that it goes by, a record belongs to nothing.
                let key = match wanted.key {
                    Some(field) => Some(find(field)?),
                    None => None,
                };
                let label = wanted.label.and_then(find);
                Some(ClassRole { role: wanted.role, key, label })
            });
            let roles = roles.collect();
            ClassLayout { name: *name, who: WhoFields::of(stream, event), roles }
        };
        Self { classes: classes.iter().zip(names).enumerate().map(layout).collect() }
    }

    /// The indexes of the names of the classes.
    pub fn names(&self) -> impl Iterator<Item = usize> + '_ {
        self.classes.iter().map(|class| class.name)
    }
}

/// What records of a name mean, and the fields that are read of them.
struct Wanted<'a> {
    role: Role,
    key: Option<&'a String>,
    label: Option<&'a String>,
}

fn roles<'a>(
    name: &'a String,
    pairs: &'a [PairSpec],
    switch: Option<&'a SwitchSpec>,
) -> impl Iterator<Item = Wanted<'a>> {
    let of_pair = move |(index, pair): (usize, &'a PairSpec)| {
        let keys = pair.keys.as_ref();
        if pair.begins.contains(name) {
            let (key, label) = (keys.map(|keys| &keys.0), pair.label.as_ref());
            return Some(Wanted { role: Role::Begin(index), key, label });
        }
        let key = keys.map(|keys| &keys.1);
        pair.ends.contains(name).then_some(Wanted { role: Role::End(index), key, label: None })
    };
    let switch = switch.filter(move |switch| switch.name == *name).map(|switch| {
        let (key, label) = (Some(&switch.thread), Some(&switch.label));
        Wanted { role: Role::Switch, key, label }
    });
    // What ends with a switch ends before it.
    pairs.iter().enumerate().filter_map(of_pair).chain(switch)
}

/// The records of a thread in some data streams of the same classes.
pub struct Slot {
    /// Their classes.
    pub layout: Arc<Layout>,
    /// The thread.
    pub who: Who,
    /// The name of its process.
    pub name: Option<String>,
    /// How many there are of each class.
    pub counts: Vec<EventCount>,
}

/// What some records of a merge are.
#[derive(Default)]
pub struct Task {
    /// How many there are of each thread and class.
    pub slots: Vec<Slot>,
    /// Those that mean something for pairs, with their indexes in the task.
    pub seen: Vec<(u32, Seen)>,
    /// How many there are.
    pub records: u32,
    indexes: HashMap<(usize, Who), usize>,
    last: usize,
}

impl Task {
    #[inline]
    fn slot(&mut self, layout: &Arc<Layout>, who: Who) -> usize {
        let is_same = |slot: &Slot| slot.who == who && Arc::ptr_eq(&slot.layout, layout);
        if !self.slots.get(self.last).is_some_and(is_same) {
            let slots = &mut self.slots;
            let key = (Arc::as_ptr(layout) as usize, who);
            self.last = *self.indexes.entry(key).or_insert_with(|| {
                let counts = vec![EventCount::default(); layout.classes.len()];
                slots.push(Slot { layout: Arc::clone(layout), who, name: None, counts });
                slots.len() - 1
            });
        }
        self.last
    }
}

impl RecordTask for Task {
    type Layout = Arc<Layout>;
    type Packet = Option<OfPacket>;

    fn packet(layout: &Arc<Layout>, batch: &Batch, part: &Part) -> Option<OfPacket> {
        layout.classes.first().map(|class| class.who.of_packet(batch, part))
    }

    fn run(
        &mut self,
        layout: &Arc<Layout>,
        packet: &Option<OfPacket>,
        batch: &Batch,
        records: &[Record],
        state: &mut State,
    ) {
        let first = self.records;
        self.records += records.len() as u32;
        let Some(packet) = packet else { return };
        for (index, record) in (first..).zip(records) {
            let Some(class) = layout.classes.get(record.class as usize) else { continue };
            let (who, cpu) = class.who.read(packet, batch, record, state);
            let time = batch.nanoseconds(record);
            let slot = self.slot(layout, who);
            let Some(slot) = self.slots.get_mut(slot) else { continue };
            if slot.name.is_none() {
                slot.name = class.who.name(batch, batch.part_of(record), record, state);
            }
            if let Some(count) = slot.counts.get_mut(record.class as usize) {
                count.add(time);
            }
            let (stream, is_of_thread) = (batch.stream.origin(), class.who.is_of_thread());
            for ClassRole { role, key, label } in &class.roles {
                let mut read =
                    |field: &KeyField| field.read(batch, batch.part_of(record), record, state);
                let key = match key {
                    // What cannot be read belongs to nothing.
                    Some(field) => match read(field) {
                        Some(key) => Some(key),
                        None => continue,
                    },
                    None => None,
                };
                let (role, label) = (*role, label.as_ref().and_then(&mut read));
                let seen = Seen { role, time, who, cpu, stream, is_of_thread, key, label };
                self.seen.push((index, seen));
            }
        }
    }
}
