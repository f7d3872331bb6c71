//! The text of field classes.

use std::collections::BTreeMap;

use super::field_path::{field_of_length, field_of_selector, Found, Scopes, Step};
use super::number::{push_grouped, push_grouped_signed};
use super::options::{Options, Palette};
use crate::model::{
    BitMeaning, DisplayBase, EnumerationMapping, FieldClass, FieldKind, Member, OptionalClass,
    Selector,
};

/// Ranges of values, sorted, by the label that names them.
type Mappings<'a> = BTreeMap<&'a str, Vec<(i128, i128)>>;

/// Writes what the metadata declares.
pub struct ClassWriter<'a> {
    /// Where to.
    pub out: &'a mut Vec<u8>,
    /// What is shown.
    pub options: &'a Options,
    /// Columns to the left of a line.
    pub indent: usize,
}

impl ClassWriter<'_> {
    pub(super) fn palette(&self) -> Palette {
        self.options.palette
    }

    pub(super) fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn painted(&mut self, codes: &[&str], text: &str) {
        codes.iter().for_each(|code| self.text(code));
        self.text(text);
        self.text(self.options.palette.reset);
    }

    pub(super) fn start_line(&mut self) {
        self.out.resize(self.out.len() + self.indent, b' ');
    }

    pub(super) fn value(&mut self, text: &str) {
        self.painted(&[self.palette().bold], text);
    }

    pub(super) fn number(&mut self, value: u64) {
        self.text(self.palette().bold);
        push_grouped(self.out, value);
        self.text(self.palette().reset);
    }

    pub(super) fn signed(&mut self, value: i64) {
        self.text(self.palette().bold);
        push_grouped_signed(self.out, value);
        self.text(self.palette().reset);
    }

    pub(super) fn yes_or_no(&mut self, value: bool) {
        let Palette { bold, bright_green, bright_red, .. } = self.palette();
        match value {
            true => self.painted(&[bold, bright_green], "Yes"),
            false => self.painted(&[bold, bright_red], "No"),
        }
    }

    pub(super) fn object(&mut self, name: &str) {
        let Palette { bold, bright_yellow, .. } = self.palette();
        self.painted(&[bold, bright_yellow], name);
    }

    /// The name of a property at the start of a line.
    pub(super) fn property(&mut self, name: &str) {
        self.start_line();
        self.painted(&[self.palette().magenta], name);
        self.text(":");
    }

    /// The name of a member at the start of a line.
    pub(super) fn member(&mut self, name: &str) {
        self.start_line();
        self.painted(&[self.palette().cyan], name);
        self.text(":");
    }

    /// The class of a scope, as a property.
    pub(super) fn scope(&mut self, name: &str, class: &FieldClass, scopes: &Scopes<'_>) {
        self.property(name);
        self.text(" ");
        self.class(class, scopes);
        self.text("\n");
    }

    fn class(&mut self, class: &FieldClass, scopes: &Scopes<'_>) {
        let blue = self.palette().blue;
        self.painted(&[blue], kind_of(class, scopes));
        self.indent += 2;
        match &class.kind {
            FieldKind::Integer(integer) => self.integer(u64::from(integer.size), integer.base, &[]),
            FieldKind::Enumeration(integer, mappings) => {
                self.enumeration(u64::from(integer.size), integer.base, mappings);
            }
            FieldKind::BitArray(bits) => {
                if let BitMeaning::Integer { base, mappings, .. } = &bits.meaning {
                    self.integer_or_enumeration(u64::from(bits.size), *base, mappings);
                }
            }
            FieldKind::VariableLength(number) => {
                self.integer_or_enumeration(64, number.base, &number.mappings);
            }
            FieldKind::Array { element, length, text: false } => {
                if let crate::model::Length::Static(count) = length {
                    self.text(" (Length ");
                    self.number(*count);
                    self.text(")");
                } else if let Some(found) = field_of_length(scopes, length) {
                    self.text(" (Length field path ");
                    self.path(&found);
                    self.text(")");
                }
                self.text(":\n");
                self.property("Element");
                self.text(" ");
                self.class(element, scopes);
            }
            FieldKind::Structure { members, .. } => self.structure(members, scopes),
            FieldKind::Variant { options, selector } => self.variant(options, selector, scopes),
            FieldKind::Optional(optional) => self.optional(optional, scopes),
            FieldKind::Blob(blob) => {
                if let crate::model::Length::Static(count) = &blob.length {
                    self.text(" (Length ");
                    self.number(*count);
                    self.text(")");
                } else if let Some(found) = field_of_length(scopes, &blob.length) {
                    self.text(" (Length field path ");
                    self.path(&found);
                    self.text(")");
                }
            }
            FieldKind::Float { .. }
            | FieldKind::String
            | FieldKind::Text(_)
            | FieldKind::Array { .. } => {}
        }
        self.indent -= 2;
    }

    fn integer_or_enumeration(
        &mut self,
        size: u64,
        base: DisplayBase,
        mappings: &[EnumerationMapping],
    ) {
        match mappings {
            [] => self.integer(size, base, mappings),
            _ => self.enumeration(size, base, mappings),
        }
    }

    fn integer(&mut self, size: u64, base: DisplayBase, _: &[EnumerationMapping]) {
        self.size_and_base(size, base);
        self.text(")");
    }

    fn size_and_base(&mut self, size: u64, base: DisplayBase) {
        self.text(" (");
        self.painted(&[self.palette().bold], &format!("{size}-bit"));
        self.text(", Base ");
        self.number(match base {
            DisplayBase::Binary => 2,
            DisplayBase::Octal => 8,
            DisplayBase::Decimal => 10,
            DisplayBase::Hexadecimal => 16,
        });
    }

    fn enumeration(&mut self, size: u64, base: DisplayBase, mappings: &[EnumerationMapping]) {
        let labels = by_label(mappings);
        self.size_and_base(size, base);
        self.text(", ");
        self.number(labels.len() as u64);
        self.text(if labels.len() == 1 { " mapping)" } else { " mappings)" });
        if !labels.is_empty() {
            self.text(":");
        }
        for (label, ranges) in labels {
            self.text("\n");
            self.property(label);
            self.ranges(&ranges);
        }
    }

    fn ranges(&mut self, ranges: &[(i128, i128)]) {
        for &(lower, upper) in ranges {
            self.text(" [");
            // Babeltrace 2 shows those of unsigned integers as signed ones, too.
            self.signed(lower as i64);
            if lower != upper {
                self.text(", ");
                self.signed(upper as i64);
            }
            self.text("]");
        }
    }

    fn path(&mut self, found: &Found<'_>) {
        self.text("[");
        self.value(found.scope);
        self.text(": ");
        for (index, step) in found.steps.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            match step {
                Step::Index(at) => self.number(*at as u64),
                Step::Current => self.value("<current>"),
            }
        }
        self.text("]");
    }

    fn structure(&mut self, members: &[Member], scopes: &Scopes<'_>) {
        let shown: Vec<_> = members.iter().filter(|member| member.class.visible).collect();
        self.text(" (");
        self.number(shown.len() as u64);
        self.text(if shown.len() == 1 { " member)" } else { " members)" });
        if !shown.is_empty() {
            self.text(":");
        }
        for member in shown {
            self.text("\n");
            self.member(member.name());
            self.text(" ");
            self.class(&member.class, scopes);
        }
    }

    fn variant(&mut self, options: &[Member], selector: &Selector, scopes: &Scopes<'_>) {
        let found = field_of_selector(scopes, selector);
        self.text(" (");
        self.number(options.len() as u64);
        self.text(if options.len() == 1 { " option" } else { " options" });
        if let Some(found) = &found {
            self.text(", Selector field path ");
            self.path(found);
        }
        self.text(")");
        if !options.is_empty() {
            self.text(":");
        }
        for (index, option) in options.iter().enumerate() {
            self.text("\n");
            self.member(option.name());
            match &found {
                None => self.text(" "),
                Some(found) => {
                    let ranges = ranges_of_option(found.class, option, selector, index);
                    self.ranges(&ranges);
                    self.text(": ");
                }
            }
            self.class(&option.class, scopes);
        }
    }

    fn optional(&mut self, optional: &OptionalClass, scopes: &Scopes<'_>) {
        let found = field_of_selector(scopes, &optional.selector);
        if let Some(found) = &found {
            self.text(" (Selector field path ");
            self.path(found);
            self.text(")");
        }
        self.text(":\n");
        match found.map(|found| is_boolean(found.class)) {
            Some(true) => {
                self.property("Selector is reversed");
                self.text(" ");
                self.yes_or_no(false);
                self.text("\n");
            }
            Some(false) => {
                self.property("Selector ranges");
                let ranges = optional.selector.ranges.iter();
                let ranges: Vec<_> = ranges.map(|&(lower, upper, _)| (lower, upper)).collect();
                self.ranges(&ranges);
                self.text("\n");
            }
            None => {}
        }
        self.property("Content");
        self.text(" ");
        self.class(&optional.field, scopes);
    }
}

/// What Babeltrace 2 calls a field class.
fn kind_of(class: &FieldClass, scopes: &Scopes<'_>) -> &'static str {
    use crate::model::Length;
    let integer = |signed, labelled| match (signed, labelled) {
        (false, false) => "Unsigned integer",
        (true, false) => "Signed integer",
        (false, true) => "Unsigned enumeration",
        (true, true) => "Signed enumeration",
    };
    match &class.kind {
        FieldKind::Integer(class) => integer(class.signed, false),
        FieldKind::Enumeration(class, _) => integer(class.signed, true),
        FieldKind::VariableLength(class) => integer(class.signed, !class.mappings.is_empty()),
        FieldKind::Float { size: 32, .. } => "Single-precision real",
        FieldKind::Float { .. } => "Double-precision real",
        FieldKind::String | FieldKind::Text(_) | FieldKind::Array { text: true, .. } => "String",
        FieldKind::Array { length: Length::Static(_), .. } => "Static array",
        FieldKind::Array { length, .. } => match field_of_length(scopes, length) {
            Some(_) => "Dynamic array (with length field)",
            None => "Dynamic array (no length field)",
        },
        FieldKind::Structure { .. } => "Structure",
        FieldKind::Variant { selector, .. } => match field_of_selector(scopes, selector) {
            None => "Variant (no selector)",
            Some(_) if selector.signed => "Variant (signed integer selector)",
            Some(_) => "Variant (unsigned integer selector)",
        },
        FieldKind::Optional(optional) => match field_of_selector(scopes, &optional.selector) {
            None => "Option (no selector)",
            Some(found) if is_boolean(found.class) => "Option (boolean selector)",
            Some(_) if optional.selector.signed => "Option (signed integer selector)",
            Some(_) => "Option (unsigned integer selector)",
        },
        FieldKind::BitArray(class) => match &class.meaning {
            BitMeaning::Bits | BitMeaning::Flags(_) => "Bit array",
            BitMeaning::Boolean => "Boolean",
            BitMeaning::Integer { signed, mappings, .. } => integer(*signed, !mappings.is_empty()),
            BitMeaning::Float if class.size == 32 => "Single-precision real",
            BitMeaning::Float => "Double-precision real",
        },
        FieldKind::Blob(class) => match &class.length {
            Length::Static(_) => "Static BLOB",
            length if field_of_length(scopes, length).is_some() => {
                "Dynamic BLOB (with length field)"
            }
            Length::Dynamic { .. } => "Dynamic BLOB (no length field)",
        },
    }
}

fn is_boolean(class: &FieldClass) -> bool {
    matches!(&class.kind, FieldKind::BitArray(bits) if bits.meaning == BitMeaning::Boolean)
}

fn by_label(mappings: &[EnumerationMapping]) -> Mappings<'_> {
    let mut labels = Mappings::new();
    for mapping in mappings {
        labels.entry(&mapping.label).or_default().push((mapping.lower, mapping.upper));
    }
    labels.values_mut().for_each(|ranges| ranges.sort_unstable());
    labels
}

/// The values that select an option: those of the label that it is named after.
fn ranges_of_option(
    tag: &FieldClass,
    option: &Member,
    selector: &Selector,
    index: usize,
) -> Vec<(i128, i128)> {
    if let FieldKind::Enumeration(_, mappings) = &tag.kind {
        if let Some(ranges) = by_label(mappings).remove(option.declared_name.as_str()) {
            return ranges;
        }
    }
    let ranges = selector.ranges.iter().filter(|(_, _, option)| *option == index);
    ranges.map(|&(lower, upper, _)| (lower, upper)).collect()
}
