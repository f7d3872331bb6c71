//! Items by small numbers, in the order in which the numbers were first asked for.

/// No item.
const NONE: u32 = u32::MAX;

/// Items by numbers.
#[derive(Debug, Clone)]
pub struct InOrder<T> {
    /// The index of the item of each number.
    indexes: Vec<u32>,
    /// The number of each item, and it.
    items: Vec<(u32, T)>,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self { indexes: Vec::new(), items: Vec::new() }
    }
}

impl<T: Default> InOrder<T> {
    /// The item of a number, which is made if need be. Numbers must be small ones.
    #[inline]
    pub fn get_or_add(&mut self, number: u32) -> Option<&mut T> {
        let at = number as usize;
        if at >= self.indexes.len() {
            self.indexes.resize(at + 1, NONE);
        }
        let index = self.indexes.get_mut(at)?;
        if *index == NONE {
            *index = self.items.len() as u32;
            self.items.push((number, T::default()));
        }
        self.items.get_mut(*index as usize).map(|(_, item)| item)
    }

    /// The items with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.items.iter().map(|(number, item)| (*number, item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_in_the_order_of_their_first_use() {
        let mut items: InOrder<u64> = InOrder::default();
        for number in [7, 2, 7, 0, 2, 7] {
            *items.get_or_add(number).unwrap() += 1;
        }
        let found: Vec<(u32, u64)> = items.iter().map(|(number, item)| (number, *item)).collect();
        assert_eq!(found, [(7, 3), (2, 2), (0, 1)]);
    }
}
