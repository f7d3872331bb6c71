//! Dictionaries that grow from batch to batch, so that an index keeps its meaning.

use std::collections::HashMap;
use std::sync::Arc;

use super::array::{Array, Buffer, RecordBatch};
use super::builder::NewLabels;
use super::decode::Decoded;
use super::types::{Column, ColumnType};

/// Most labels that a dictionary keeps beside those it began with. A column with more
/// distinct values begins a new dictionary with the next batch.
const MOST_NEW_LABELS: usize = 65_536;
/// Most bytes of the labels of one dictionary, as above.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The labels of one column.
struct Dictionary {
    first: Vec<String>,
    labels: Vec<Arc<[u8]>>,
    indexes: HashMap<Arc<[u8]>, u32>,
    bytes: usize,
    /// The labels as an array, until they change.
    array: Option<Arc<Array>>,
}

impl Dictionary {
    fn new(first: Vec<String>) -> Self {
        let mut made =
            Self { first, labels: Vec::new(), indexes: HashMap::new(), bytes: 0, array: None };
        made.reset();
        made
    }

    fn reset(&mut self) {
        self.labels.clear();
        self.indexes.clear();
        self.bytes = 0;
        self.array = None;
        for label in std::mem::take(&mut self.first) {
            self.index(label.as_bytes());
            self.first.push(label);
        }
    }

    fn index(&mut self, label: &[u8]) -> u32 {
        if let Some(&index) = self.indexes.get(label) {
            return index;
        }
        let index = self.labels.len() as u32;
        let shared: Arc<[u8]> = label.into();
        self.labels.push(Arc::clone(&shared));
        self.indexes.insert(shared, index);
        self.bytes += label.len();
        self.array = None;
        index
    }

    fn is_full(&self) -> bool {
        self.labels.len() > self.first.len() + MOST_NEW_LABELS || self.bytes > MOST_BYTES
    }

    fn array(&mut self) -> Arc<Array> {
        if let Some(array) = &self.array {
            return Arc::clone(array);
        }
        let mut offsets = Vec::with_capacity(self.labels.len() + 1);
        let mut data = Vec::with_capacity(self.bytes);
        offsets.push(0);
        for label in &self.labels {
            data.extend_from_slice(label);
            offsets.push(data.len() as i32);
        }
        let array = Arc::new(Array {
            length: self.labels.len(),
            buffers: vec![Buffer::I32(offsets), Buffer::U8(data)],
            ..Array::default()
        });
        self.array = Some(Arc::clone(&array));
        array
    }
}

/// The dictionaries of all columns that have one, by the index of the column.
#[derive(Default)]
pub struct Dictionaries {
    dictionaries: HashMap<usize, Dictionary>,
}

impl Dictionaries {
    /// The dictionaries of some columns, with their first labels.
    #[must_use]
    pub fn new(columns: &[Column]) -> Self {
        let mut made = Self::default();
        columns.iter().for_each(|column| made.add(column));
        made
    }

    fn add(&mut self, column: &Column) {
        if let ColumnType::Dictionary(labels) = &column.kind {
            self.dictionaries.insert(column.id, Dictionary::new(labels.clone()));
        }
        column.children().iter().for_each(|child| self.add(child));
    }

    /// Takes up the new labels of a batch and gives its columns their dictionaries.
    /// Batches must come in their order.
    #[must_use]
    pub fn complete(&mut self, columns: &[Column], decoded: Decoded) -> RecordBatch {
        let Decoded { mut batch, new_labels } = decoded;
        let moved: HashMap<usize, (usize, Vec<u32>)> =
            new_labels.into_iter().map(|(id, labels)| (id, self.take_up(id, &labels))).collect();
        for (column, array) in columns.iter().zip(&mut batch.columns) {
            self.attach(column, array, &moved);
        }
        batch
    }

    /// Where the new labels of a batch are in the dictionary of their column.
    fn take_up(&mut self, id: usize, new: &NewLabels) -> (usize, Vec<u32>) {
        let Some(dictionary) = self.dictionaries.get_mut(&id) else { return (0, Vec::new()) };
        if dictionary.is_full() {
            dictionary.reset();
        }
        (new.known, new.labels.iter().map(|label| dictionary.index(label)).collect())
    }

    fn attach(
        &mut self,
        column: &Column,
        array: &mut Array,
        moved: &HashMap<usize, (usize, Vec<u32>)>,
    ) {
        for (child, values) in column.children().iter().zip(&mut array.children) {
            self.attach(child, values, moved);
        }
        let Some(dictionary) = self.dictionaries.get_mut(&column.id) else { return };
        if let (Some((known, places)), Some(Buffer::U32(indexes))) =
            (moved.get(&column.id), array.buffers.first_mut())
        {
            for index in indexes.iter_mut() {
                let new = (*index as usize).checked_sub(*known);
                if let Some(&place) = new.and_then(|new| places.get(new)) {
                    *index = place;
                }
            }
        }
        array.dictionary = Some(dictionary.array());
    }
}
