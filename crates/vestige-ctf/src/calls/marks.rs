//! What is said of single records where calls are shown one by one: how deep they stand, and
//! how long the call took that ends there.

/// What a record is to the calls of its thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MarkKind {
    /// Neither an entry nor an exit.
    #[default]
    Other,
    /// A call begins.
    Entry,
    /// A call begins whose exit is the next record of the thread, and is not shown.
    Whole,
    /// A call ends.
    Exit,
}

/// What is said of a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    /// How many calls are around it; around the call, if one begins or ends here.
    pub depth: u32,
    /// What it is.
    pub kind: MarkKind,
    /// How long the call took that ends here, nanoseconds; `None` where that is not known.
    pub duration: Option<u64>,
}

/// The marks of a merge.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    /// Whether a call without anything in it is one record.
    joins: bool,
    marks: Vec<Mark>,
    /// Whether each record is shown still.
    shown: Vec<bool>,
    /// The number of the first entry or exit, and the index of the record of each.
    first: u64,
    indexes: Vec<u32>,
}

impl Marks {
    /// Marks of no record yet. With `joins`, a call that has nothing in it is one record.
    #[must_use]
    pub fn new(joins: bool) -> Self {
        Self { joins, ..Self::default() }
    }

    /// Begins a merge of so many records; `number` is that of its first entry or exit.
    pub fn begin(&mut self, records: usize, number: u64) {
        self.marks = vec![Mark::default(); records];
        self.shown = vec![true; if self.joins { records } else { 0 }];
        self.first = number;
        self.indexes.clear();
    }

    /// Notes that a record is the next entry or exit.
    pub fn count(&mut self, index: usize) {
        self.indexes.push(index as u32);
    }

    /// Marks a record.
    pub fn set(&mut self, index: usize, mark: Mark) {
        if let Some(place) = self.marks.get_mut(index) {
            *place = mark;
        }
    }

    /// Makes one record of an entry, by its number, and of the exit right behind it, if both
    /// are of this merge.
    pub fn join(&mut self, entry: u64, exit: usize, duration: Option<u64>) {
        let Some(place) = entry.checked_sub(self.first).filter(|_| self.joins) else { return };
        let index = usize::try_from(place).ok().and_then(|place| self.indexes.get(place));
        let Some(mark) = index.and_then(|&index| self.marks.get_mut(index as usize)) else {
            return;
        };
        (mark.kind, mark.duration) = (MarkKind::Whole, duration);
        if let Some(shown) = self.shown.get_mut(exit) {
            *shown = false;
        }
    }

    /// The marks, and which records are shown still, if any is not.
    pub fn take(&mut self) -> (Vec<Mark>, Option<Vec<bool>>) {
        let shown = std::mem::take(&mut self.shown);
        let hides = shown.contains(&false);
        (std::mem::take(&mut self.marks), hides.then_some(shown))
    }
}
