//! Columns that filters add to the event records of a merge.
//!
//! A merge carries a list of them, in the order of the filters: each stands in the common
//! context of the records, after the fields that were recorded.

use std::sync::{Arc, RwLock};

use rayon::prelude::*;
use vestige_workers::on_all_cores;

use crate::places::NO_PLACE;

/// Source places: object, function and source line, each as text. Only ever appended to.
pub type PlaceTable = RwLock<Vec<[String; 3]>>;

/// A column that a filter added to the common context of the records of a merge.
#[derive(Clone)]
pub struct Derived {
    /// Name of the added structure.
    pub name: String,
    /// For each record in the order of the merge an index into `table`, or [`NO_PLACE`].
    pub column: Vec<u32>,
    /// The values.
    pub table: Arc<PlaceTable>,
}

impl Derived {
    /// The index of the value of a record, if it has one.
    #[must_use]
    pub fn place(&self, index: usize) -> Option<u32> {
        self.column.get(index).copied().filter(|&place| place != NO_PLACE)
    }

    /// The column of some of the records.
    #[must_use]
    pub fn of_records(&self, kept: &[usize]) -> Self {
        let column = kept.iter().filter_map(|&index| self.column.get(index).copied());
        Self { column: column.collect(), name: self.name.clone(), table: Arc::clone(&self.table) }
    }
}

/// What is made once of each value of the columns of all merges, such as its text.
pub struct OfPlaces<T> {
    tables: Vec<(Arc<PlaceTable>, Vec<T>)>,
}

impl<T> Default for OfPlaces<T> {
    fn default() -> Self {
        Self { tables: Vec::new() }
    }
}

impl<T: Send> OfPlaces<T> {
    /// Makes what is missing for the columns of a merge.
    pub fn update(
        &mut self,
        columns: &[Arc<Derived>],
        make: impl Fn(&Derived, &[String; 3]) -> T + Sync,
    ) {
        for one in columns {
            let known = self.position(one).unwrap_or(self.tables.len());
            if known == self.tables.len() {
                self.tables.push((Arc::clone(&one.table), Vec::new()));
            }
            let Some((table, made)) = self.tables.get_mut(known) else { continue };
            let Ok(table) = table.read() else { continue };
            let added = table.get(made.len()..).unwrap_or_default();
            let fresh: Vec<T> =
                on_all_cores(|| added.par_iter().map(|place| make(one, place)).collect());
            made.extend(fresh);
        }
    }

    /// Each column of a merge with what was made of its values.
    pub fn columns<'a>(&'a self, columns: &'a [Arc<Derived>]) -> Vec<PlacesOf<'a, T>> {
        let found = columns.iter().filter_map(|one| {
            let (_, made) = self.tables.get(self.position(one)?)?;
            Some(PlacesOf { column: &one.column, made })
        });
        found.collect()
    }

    fn position(&self, one: &Derived) -> Option<usize> {
        self.tables.iter().position(|(table, _)| Arc::ptr_eq(table, &one.table))
    }
}

/// A column of a merge, and what was made of its values.
#[derive(Clone, Copy)]
pub struct PlacesOf<'a, T> {
    column: &'a [u32],
    made: &'a [T],
}

impl<'a, T> PlacesOf<'a, T> {
    /// What was made of the value of a record, if it has one.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&'a T> {
        // The index that marks no place is beyond any table.
        self.made.get(*self.column.get(index)? as usize)
    }
}
