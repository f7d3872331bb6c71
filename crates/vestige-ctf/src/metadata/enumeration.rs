//! `enum` types (CTF 1.8.3, section 4.1.8).

use super::lexer::TokenKind;
use super::parser::Parser;
use super::scope::NameSpace;
use crate::error::{CtfError, Result};
use crate::model::{EnumerationMapping, FieldClass, FieldKind, IntegerClass};

impl Parser<'_> {
    /// Reads `enum NAME : container { label = value, … }`.
    pub(super) fn enumeration_type(&mut self) -> Result<FieldClass> {
        self.advance();
        let tag = self.tag()?;
        let container =
            if self.accept(":") { Some(self.nested(Self::type_specifier)?) } else { None };
        if !matches!(self.peek(), TokenKind::Punctuation("{")) {
            return self.tagged(NameSpace::Enumeration, tag.as_deref());
        }
        let container = self.container(container)?;
        let line = self.line();
        let mappings = self.mappings(&container)?;
        if mappings.is_empty() {
            return Err(CtfError::metadata(line, "an enum needs at least one label"));
        }
        let class = FieldClass::new(FieldKind::Enumeration(container, mappings));
        if let Some(tag) = tag {
            if !self.scopes.declare(NameSpace::Enumeration, &tag, class.clone()) {
                return Err(self.error(format!("enum '{tag}' is declared twice in this block")));
            }
        }
        Ok(class)
    }

    /// An enumeration that names no container uses the type `int`, which must exist.
    fn container(&self, stated: Option<FieldClass>) -> Result<IntegerClass> {
        let class = stated.or_else(|| self.scopes.find(NameSpace::Alias, "int").cloned());
        match class.map(|class| class.kind) {
            Some(FieldKind::Integer(class)) => Ok(class),
            Some(_) => Err(self.error("the container of an enum: expected an integer")),
            None => Err(self.error("enum without a container, and no type 'int' is declared")),
        }
    }

    fn mappings(&mut self, container: &IntegerClass) -> Result<Vec<EnumerationMapping>> {
        self.expect("{")?;
        let (least, most) = values(container);
        let lenient = self.tracer_mixes_up_labels();
        let mut mappings = Vec::new();
        let mut next = 0;
        while !self.accept("}") {
            let label = self.label()?;
            let (lower, upper) = self.range(next)?;
            if upper < lower {
                return Err(self.error(format!("enum label '{label}': its range is empty")));
            }
            if !lenient && (lower < least || upper > most) {
                return Err(self.error(format!(
                    "enum label '{label}' is outside of its container: expected values from \
                     {least} to {most} (CTF 1.8.3, 4.1.8)"
                )));
            }
            mappings.push(EnumerationMapping { label, lower, upper });
            next = upper + 1;
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(mappings)
    }

    /// LTTng takes the labels of an enumeration from the program as they are, also those that
    /// no value of the container can have. They do no harm: they never apply.
    fn tracer_mixes_up_labels(&self) -> bool {
        let tracer = self.trace.environment_string("tracer_name");
        tracer.is_some_and(|name| name.starts_with("lttng-"))
    }

    fn label(&mut self) -> Result<String> {
        match self.peek().clone() {
            TokenKind::Name(text) | TokenKind::Text(text) => {
                self.advance();
                Ok(text)
            }
            _ => Err(self.unexpected("an enum label")),
        }
    }

    fn range(&mut self, next: i128) -> Result<(i128, i128)> {
        if !self.accept("=") {
            return Ok((next, next));
        }
        let lower = self.integer()?;
        let upper = if self.accept("...") { self.integer()? } else { lower };
        Ok((lower, upper))
    }
}

/// The lowest and the highest value of an integer.
fn values(class: &IntegerClass) -> (i128, i128) {
    let bits = class.size.min(64);
    if class.signed {
        let half = 1i128 << (bits - 1);
        (-half, half - 1)
    } else {
        (0, (1i128 << bits) - 1)
    }
}
