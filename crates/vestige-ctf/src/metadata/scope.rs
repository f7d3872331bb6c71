//! Names of types: aliases and tagged structures, variants and enumerations, block by block.

use std::collections::HashMap;

use crate::model::FieldClass;

/// The four name spaces of TSDL types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameSpace {
    /// `typealias` and `typedef` names.
    Alias,
    /// `struct NAME`.
    Structure,
    /// `variant NAME`.
    Variant,
    /// `enum NAME`.
    Enumeration,
}

/// Nested blocks, each with the types declared in it; inner ones hide outer ones.
#[derive(Debug, Default)]
pub struct Scopes {
    blocks: Vec<HashMap<(NameSpace, String), FieldClass>>,
}

impl Scopes {
    /// Enters a block.
    pub fn push(&mut self) {
        self.blocks.push(HashMap::new());
    }

    /// Leaves the innermost block.
    pub fn pop(&mut self) {
        self.blocks.pop();
    }

    /// Whether what stands here is in no block.
    #[must_use]
    pub fn at_root(&self) -> bool {
        self.blocks.len() == 1
    }

    /// Declares a type in the innermost block; returns whether the name was free there.
    pub fn declare(&mut self, space: NameSpace, name: &str, class: FieldClass) -> bool {
        match self.blocks.last_mut() {
            Some(block) => block.insert((space, name.to_owned()), class).is_none(),
            None => false,
        }
    }

    /// The type of a name as seen from the innermost block.
    #[must_use]
    pub fn find(&self, space: NameSpace, name: &str) -> Option<&FieldClass> {
        let key = (space, name.to_owned());
        self.blocks.iter().rev().find_map(|block| block.get(&key))
    }
}
