//! The fields that are declared so far: what lengths and selectors may refer to.
//!
//! CTF 1.8.3, section 7.3.2: a relative path is looked up in the static scope. The fields of
//! the structures around a length or a selector are known when it is read, so a mistake is
//! found at its line, and also in a type that no event uses. What is not found there may be
//! in a dynamic scope; `resolve` knows those.

use super::open_body::OpenBody;
use super::parser::Parser;
use crate::error::{CtfError, Result};
use crate::model::{FieldClass, FieldKind, Member};

impl Parser<'_> {
    /// Enters the body of a structure, or of a variant.
    pub(super) fn open_body(&mut self, structure: bool) {
        self.scopes.push();
        self.bodies.push(OpenBody { structure, ..OpenBody::default() });
    }

    /// Leaves the innermost body and gives its members.
    pub(super) fn close_body(&mut self) -> Vec<Member> {
        self.scopes.pop();
        self.bodies.pop().map(|body| body.members).unwrap_or_default()
    }

    /// Adds a member to the innermost body.
    pub(super) fn add_member(&mut self, name: String, class: FieldClass) -> Result<()> {
        let line = self.line();
        let Some(body) = self.bodies.last_mut() else { return Ok(()) };
        let index = body.members.len();
        if body.declared.insert(name.clone(), index).is_some() {
            let message =
                format!("field '{name}' stands twice in one structure (CTF 1.8.3, 4.2.1)");
            return Err(CtfError::metadata(line, message));
        }
        if let Some(shown) = name.strip_prefix('_') {
            body.shown.entry(shown.to_owned()).or_insert(index);
        }
        body.members.push(Member::new(name, class));
        Ok(())
    }

    /// The closest preceding field of a name in the structures around: its body and index.
    fn find_static(&self, path: &[String]) -> Option<(usize, usize)> {
        let [name] = path else { return None };
        let bodies = self.bodies.iter().enumerate().rev().filter(|(_, body)| body.structure);
        bodies.filter_map(|(body, open)| Some((body, open.index(name)?))).next()
    }

    fn static_field(&self, (body, index): (usize, usize)) -> Option<&FieldClass> {
        self.bodies.get(body)?.members.get(index).map(|member| &member.class)
    }

    /// Checks the field that gives an array its length, as far as it is known.
    pub(super) fn check_length(&self, path: &[String], line: u32) -> Result<()> {
        let outside = self.bodies.is_empty() && self.scopes.at_root() && path.len() == 1;
        let wrong = match self.find_static(path).and_then(|place| self.static_field(place)) {
            None if outside => "stands outside of any structure, where no field precedes it",
            None => return Ok(()),
            Some(class) => match &class.kind {
                FieldKind::Integer(class) | FieldKind::Enumeration(class, _) if !class.signed => {
                    return Ok(());
                }
                FieldKind::Integer(_) | FieldKind::Enumeration(..) => "is signed",
                FieldKind::BitArray(_) => "is an integer of more than 64 bits",
                _ => "is no integer",
            },
        };
        let path = path.join(".");
        let message = format!(
            "the length '{path}' {wrong}; expected an unsigned integer field that is read \
             before (CTF 1.8.3, 4.2.4)"
        );
        Err(CtfError::metadata(line, message))
    }

    /// Checks the field that selects the option of a variant, as far as it is known.
    pub(super) fn check_selector(
        &mut self,
        path: &[String],
        options: &[Member],
        line: u32,
    ) -> Result<()> {
        let Some(place) = self.find_static(path) else { return Ok(()) };
        let enumeration = self
            .static_field(place)
            .is_some_and(|class| matches!(class.kind, FieldKind::Enumeration(..)));
        let body = self.bodies.get_mut(place.0);
        let selects = body.is_none_or(|body| body.selects(place.1, options));
        let wrong = match (enumeration, selects || options.is_empty()) {
            (false, _) => "is no enumeration",
            (true, false) => "has no label that is the name of an option",
            (true, true) => return Ok(()),
        };
        let path = path.join(".");
        let message = format!(
            "variant selector '{path}' {wrong}; expected an enumeration field that is read \
             before (CTF 1.8.3, 4.2.2)"
        );
        Err(CtfError::metadata(line, message))
    }
}
