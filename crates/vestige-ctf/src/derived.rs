//! Columns that filters add to the event records of a merge.
//!
//! A merge carries a list of them, in the order of the filters. Each is a field of the common
//! context of those records that have a value: it stands after the fields that were recorded,
//! and whoever shows, decodes, chooses or writes records takes it like these.
//!
//! Values are kept once: many records have the same. They are what the encoder takes, and
//! who wants to decode them as other fields are decoded has them encoded first.

use std::sync::{Arc, RwLock, RwLockReadGuard};

use rayon::prelude::*;
use vestige_workers::on_all_cores;

use crate::encode::encoded;
use crate::encode::value::{Cell, Value};
use crate::model::FieldClass;

/// Marks a record without a value.
pub const NO_VALUE: u32 = u32::MAX;

/// The values of a column, of all merges. Only ever appended to.
pub type ValueTable = RwLock<Vec<Value>>;

/// A field that a filter added to the common context of the records of a merge.
#[derive(Clone)]
pub struct Derived {
    /// Its name.
    pub name: String,
    /// Its class, which refers to no other field.
    pub class: Arc<FieldClass>,
    /// For each record in the order of the merge an index into `table`, or [`NO_VALUE`].
    pub column: Vec<u32>,
    /// The values.
    pub table: Arc<ValueTable>,
    /// Of which data streams of the merge, by rank, the filter saw records; `None` for all.
    pub streams: Option<Arc<[bool]>>,
}

impl Derived {
    /// The index of the value of a record, if it has one.
    #[inline]
    #[must_use]
    pub fn index(&self, record: usize) -> Option<u32> {
        self.column.get(record).copied().filter(|&index| index != NO_VALUE)
    }

    /// The values, to be looked at.
    #[must_use]
    pub fn values(&self) -> Values<'_> {
        // It is appended to only, so nothing half-changed can be seen.
        let table = self.table.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        Values { column: &self.column, table }
    }

    /// The value of a record as it would be encoded at the beginning of its own bytes.
    #[must_use]
    pub fn encoded(&self, record: usize) -> Option<Vec<u8>> {
        let values = self.values();
        encoded(&self.class, values.cell(record)?).ok()
    }

    /// The column with other indexes and the same values.
    fn with(&self, column: Vec<u32>) -> Self {
        Self { column, ..self.without_records() }
    }

    fn without_records(&self) -> Self {
        Self {
            name: self.name.clone(),
            class: Arc::clone(&self.class),
            column: Vec::new(),
            table: Arc::clone(&self.table),
            streams: self.streams.clone(),
        }
    }

    /// Whether its filter saw the records of a data stream.
    #[must_use]
    pub fn concerns(&self, rank: usize) -> bool {
        let is_in = |streams: &Arc<[bool]>| streams.get(rank).copied().unwrap_or(false);
        self.streams.as_ref().is_none_or(is_in)
    }

    /// The column of a filter that saw the records of some data streams alone.
    #[must_use]
    pub fn of_streams(self, wanted: &[bool]) -> Self {
        let both = wanted.iter().enumerate();
        let both = both.map(|(rank, &is_wanted)| is_wanted && self.concerns(rank)).collect();
        Self { streams: Some(both), ..self }
    }

    /// The column of some of the records.
    #[must_use]
    pub fn of_records(&self, kept: &[usize]) -> Self {
        let index = |&record: &usize| self.column.get(record).copied();
        self.with(kept.iter().filter_map(index).collect())
    }

    /// The column of `count` records, of which `kept` are those that it was made of.
    #[must_use]
    pub fn among(&self, kept: &[usize], count: usize) -> Self {
        let mut column = vec![NO_VALUE; count];
        for (&record, &index) in kept.iter().zip(&self.column) {
            if let Some(place) = column.get_mut(record) {
                *place = index;
            }
        }
        self.with(column)
    }

    /// The column without the records that have a field of its name by another one; `None`
    /// when it says nothing then.
    #[must_use]
    pub fn behind(&self, other: &Self) -> Option<Self> {
        let pairs = self.column.iter().enumerate();
        let own = |(record, &index)| if other.index(record).is_some() { NO_VALUE } else { index };
        let column: Vec<u32> = pairs.map(own).collect();
        let says = self.streams.is_some() || column.iter().any(|&index| index != NO_VALUE);
        says.then(|| self.with(column))
    }
}

/// The values of a column of a merge.
pub struct Values<'a> {
    column: &'a [u32],
    table: RwLockReadGuard<'a, Vec<Value>>,
}

impl Values<'_> {
    /// The value of a record, if it has one, as the encoder takes it.
    #[inline]
    #[must_use]
    pub fn cell(&self, record: usize) -> Option<Cell<'_>> {
        self.get(record).map(Cell::Value)
    }

    /// The value of a record, if it has one.
    #[inline]
    #[must_use]
    pub fn get(&self, record: usize) -> Option<&Value> {
        // The index that marks no value is beyond any table.
        self.table.get(*self.column.get(record)? as usize)
    }
}

/// What is made once of each value of the columns of all merges, such as its text.
pub struct OfValues<T> {
    tables: Vec<(Arc<ValueTable>, Vec<T>)>,
}

impl<T> Default for OfValues<T> {
    fn default() -> Self {
        Self { tables: Vec::new() }
    }
}

impl<T: Send> OfValues<T> {
    /// Makes what is missing for the columns of a merge, each with what `maker` makes of it.
    pub fn update<'a, F: Fn(&Value) -> T + Sync>(
        &mut self,
        columns: &'a [Arc<Derived>],
        maker: impl Fn(&'a Derived) -> F,
    ) {
        for one in columns {
            let known = self.position(one).unwrap_or(self.tables.len());
            if known == self.tables.len() {
                self.tables.push((Arc::clone(&one.table), Vec::new()));
            }
            let Some((table, made)) = self.tables.get_mut(known) else { continue };
            let Ok(table) = table.read() else { continue };
            let added = table.get(made.len()..).unwrap_or_default();
            if added.is_empty() {
                continue;
            }
            let make = maker(one);
            let fresh: Vec<T> = on_all_cores(|| added.par_iter().map(&make).collect());
            made.extend(fresh);
        }
    }

    /// Each column of a merge with what was made of its values.
    pub fn columns<'a>(&'a self, columns: &'a [Arc<Derived>]) -> Vec<MadeOf<'a, T>> {
        let found = columns.iter().filter_map(|one| {
            let (_, made) = self.tables.get(self.position(one)?)?;
            Some(MadeOf { column: &one.column, made })
        });
        found.collect()
    }

    fn position(&self, one: &Derived) -> Option<usize> {
        self.tables.iter().position(|(table, _)| Arc::ptr_eq(table, &one.table))
    }
}

/// A column of a merge, and what was made of its values.
#[derive(Clone, Copy)]
pub struct MadeOf<'a, T> {
    column: &'a [u32],
    made: &'a [T],
}

impl<'a, T> MadeOf<'a, T> {
    /// What was made of the value of a record, if it has one.
    #[inline]
    #[must_use]
    pub fn get(&self, record: usize) -> Option<&'a T> {
        // The index that marks no value is beyond any table.
        self.made.get(*self.column.get(record)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::{place_class, place_value};

    fn column(indexes: &[u32]) -> Derived {
        let texts = ["a", "f", "a.c:1"].map(str::to_owned);
        Derived {
            name: "debug_info".to_owned(),
            class: Arc::new(place_class()),
            column: indexes.to_vec(),
            table: Arc::new(RwLock::new(vec![place_value(texts)])),
            streams: None,
        }
    }

    #[test]
    fn a_record_has_its_value_or_none() {
        let one = column(&[NO_VALUE, 0]);
        let values = one.values();
        assert!(values.cell(0).is_none() && values.cell(2).is_none());
        assert_eq!(values.cell(1).unwrap().member(1).bytes(), Some(&b"f"[..]));
        assert_eq!(one.encoded(1).unwrap(), b"a\0f\0a.c:1\0");
    }

    #[test]
    fn a_column_of_a_part_keeps_its_records() {
        let part = column(&[NO_VALUE, 0]);
        let whole = part.among(&[1, 3], 5);
        assert_eq!(whole.column, [NO_VALUE, NO_VALUE, NO_VALUE, 0, NO_VALUE]);
        assert_eq!(whole.of_records(&[1, 3]).column, part.column);
    }

    #[test]
    fn the_first_field_of_a_name_stays() {
        let first = column(&[0, NO_VALUE, NO_VALUE]);
        let second = column(&[0, 0, NO_VALUE]);
        assert_eq!(second.behind(&first).unwrap().column, [NO_VALUE, 0, NO_VALUE]);
        assert!(first.behind(&second).is_none());
    }

    #[test]
    fn a_filter_before_a_muxer_concerns_its_data_streams_alone() {
        let one = column(&[0, 0]);
        assert!(one.concerns(0) && one.concerns(7));
        let part = one.of_streams(&[true, true, false]);
        assert!(part.concerns(1) && !part.concerns(2) && !part.concerns(7));
        let inner = part.of_streams(&[false, true, true]);
        assert!(!inner.concerns(0) && inner.concerns(1) && !inner.concerns(2));
        // It says that these data streams have such a field, also where no record does.
        assert!(inner.behind(&column(&[0, 0])).is_some());
        assert!(column(&[0, 0]).behind(&column(&[0, 0])).is_none());
    }
}
