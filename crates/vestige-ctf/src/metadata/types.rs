//! Types of TSDL: specifiers, declarators, aliases (CTF 1.8.3, section 4 and annex C).

use super::attributes::Attribute;
use super::constants;
use super::lexer::TokenKind;
use super::parser::Parser;
use super::scope::NameSpace;
use crate::error::Result;
use crate::model::{
    BitArrayClass, BitMeaning, DisplayBase, Encoding, FieldClass, FieldKind, IntegerClass, Length,
    Member, Selector, Uses,
};

/// Largest integer that is read, bits: its text takes time that grows with the square.
pub(crate) const MAX_INTEGER_SIZE: u64 = 65_536;

/// One `[…]` behind a field name.
enum Dimension {
    Static(u64),
    Dynamic(Vec<String>),
}

impl Parser<'_> {
    /// Reads a declaration that names types but no field.
    pub(super) fn type_declaration(&mut self) -> Result<()> {
        if self.accept_word("typealias") {
            return self.typealias();
        }
        let typedef = self.accept_word("typedef");
        let tagged = matches!(self.peek_ahead(1), TokenKind::Name(_));
        let class = self.nested(Self::type_specifier)?;
        if typedef {
            loop {
                let (name, declared) = self.declarator(class.clone())?;
                self.declare(NameSpace::Alias, &name, declared)?;
                if !self.accept(",") {
                    break;
                }
                self.charge_copy(&class)?;
            }
        }
        if tagged && !typedef {
            // The grammar lets a tagged declaration end with its brace.
            self.accept(";");
            return Ok(());
        }
        self.expect(";")
    }

    fn typealias(&mut self) -> Result<()> {
        let class = self.nested(Self::type_specifier)?;
        self.expect(":=")?;
        let name = self.alias_name()?;
        self.expect(";")?;
        self.declare(NameSpace::Alias, &name, class)
    }

    fn declare(&mut self, space: NameSpace, name: &str, class: FieldClass) -> Result<()> {
        if self.scopes.declare(space, name, class) {
            Ok(())
        } else {
            Err(self.error(format!("type '{name}' is declared twice in this block")))
        }
    }

    /// Reads a type without declarator.
    pub(super) fn type_specifier(&mut self) -> Result<FieldClass> {
        self.accept_word("const");
        let TokenKind::Name(word) = self.peek().clone() else {
            return Err(self.unexpected("a type"));
        };
        match word.as_str() {
            "integer" => self.integer_type(),
            "floating_point" => self.float_type(),
            "string" => self.string_type(),
            "enum" => self.enumeration_type(),
            "struct" => self.structure_type(),
            "variant" => self.variant_type(),
            _ => self.aliased_type(),
        }
    }

    fn aliased_type(&mut self) -> Result<FieldClass> {
        let line = self.line();
        let mut name = self.name()?;
        // The longest run of words that is an alias; the word after it names the field.
        let mut words = 0;
        let mut candidate = name.clone();
        let mut best = self.scopes.find(NameSpace::Alias, &name).cloned();
        loop {
            match self.peek_ahead(words) {
                TokenKind::Name(word) => candidate = format!("{candidate} {word}"),
                TokenKind::Punctuation("*") => candidate.push_str(" *"),
                _ => break,
            }
            words += 1;
            if let Some(class) = self.scopes.find(NameSpace::Alias, &candidate) {
                best = Some(class.clone());
                name.clone_from(&candidate);
                (0..words).for_each(|_| self.advance());
                words = 0;
            }
            if words > 4 {
                break;
            }
        }
        let unknown = || crate::CtfError::metadata(line, format!("unknown type '{name}'"));
        let class = best.ok_or_else(unknown)?;
        self.charge_copy(&class)?;
        Ok(class)
    }

    /// Reads `integer { … }`.
    pub(super) fn integer_type(&mut self) -> Result<FieldClass> {
        let line = self.line();
        self.advance();
        let mut class = IntegerClass {
            size: 0,
            alignment: 0,
            signed: false,
            order: self.trace.order,
            base: DisplayBase::Decimal,
            encoding: Encoding::None,
            clock: None,
            role: None,
            slot: None,
            noted: false,
        };
        for attribute in self.attributes()? {
            self.set_integer_attribute(&mut class, &attribute)?;
        }
        if class.size == 0 {
            return Err(crate::CtfError::metadata(line, "integer without a size"));
        }
        if class.alignment == 0 {
            class.alignment = default_alignment(class.size);
        }
        Ok(FieldClass::new(integer_kind(class)))
    }

    fn set_integer_attribute(&self, class: &mut IntegerClass, attribute: &Attribute) -> Result<()> {
        match attribute.key.as_str() {
            "size" => match attribute.unsigned()? {
                size @ 1..=MAX_INTEGER_SIZE => class.size = size as u32,
                _ => return Err(attribute.error("a size from 1 to 65536 bits")),
            },
            "align" => class.alignment = constants::alignment(attribute)?,
            "signed" => class.signed = attribute.boolean()?,
            "byte_order" => {
                class.order = constants::byte_order(attribute)?.unwrap_or(self.trace.order);
            }
            "base" => class.base = constants::base(attribute)?,
            "encoding" => class.encoding = constants::encoding(attribute)?,
            "map" => class.clock = Some(self.mapped_clock(attribute)?),
            _ => {}
        }
        Ok(())
    }

    /// `map = clock.NAME.value`.
    fn mapped_clock(&self, attribute: &Attribute) -> Result<usize> {
        let path = attribute.text()?;
        let name = path.strip_prefix("clock.").and_then(|rest| rest.strip_suffix(".value"));
        let name = name.ok_or_else(|| attribute.error("clock.NAME.value"))?;
        let index = self.clock_indexes.get(name).copied();
        index.ok_or_else(|| attribute.error("a clock that is declared before (CTF 1.8.3, 8)"))
    }

    fn float_type(&mut self) -> Result<FieldClass> {
        let line = self.line();
        self.advance();
        let (mut exponent, mut mantissa) = (0, 0);
        let mut stated_alignment = None;
        let mut order = self.trace.order;
        for attribute in self.attributes()? {
            match attribute.key.as_str() {
                "exp_dig" => exponent = attribute.unsigned()?,
                "mant_dig" => mantissa = attribute.unsigned()?,
                "align" => stated_alignment = Some(constants::alignment(&attribute)?),
                "byte_order" => {
                    order = constants::byte_order(&attribute)?.unwrap_or(self.trace.order);
                }
                _ => {}
            }
        }
        let size = match (exponent, mantissa) {
            (8, 24) => 32,
            (11, 53) => 64,
            _ => {
                let message = format!(
                    "floating_point with exp_dig {exponent} and mant_dig {mantissa}: expected \
                     8 and 24, or 11 and 53"
                );
                return Err(crate::CtfError::metadata(line, message));
            }
        };
        let alignment = stated_alignment.unwrap_or_else(|| default_alignment(size));
        Ok(FieldClass::new(FieldKind::Float { size, alignment, order }))
    }

    fn string_type(&mut self) -> Result<FieldClass> {
        self.advance();
        if matches!(self.peek(), TokenKind::Punctuation("{")) {
            for attribute in self.attributes()? {
                if attribute.key == "encoding" {
                    constants::encoding(&attribute)?;
                }
            }
        }
        Ok(FieldClass::new(FieldKind::String))
    }

    /// Reads the optional name of a structure, variant or enumeration.
    pub(super) fn tag(&mut self) -> Result<Option<String>> {
        match self.peek() {
            TokenKind::Name(_) => self.identifier().map(Some),
            _ => Ok(None),
        }
    }

    /// The type behind a tag that is used without a body.
    pub(super) fn tagged(&mut self, space: NameSpace, tag: Option<&str>) -> Result<FieldClass> {
        let name = tag.ok_or_else(|| self.unexpected("a name or '{'"))?;
        let class = self.scopes.find(space, name).cloned();
        let class = class.ok_or_else(|| self.error(format!("unknown type '{name}'")))?;
        self.charge_copy(&class)?;
        Ok(class)
    }

    fn structure_type(&mut self) -> Result<FieldClass> {
        self.advance();
        let tag = self.tag()?;
        if matches!(self.peek(), TokenKind::Punctuation("*")) {
            return self.pointer("struct", tag.as_deref());
        }
        if !matches!(self.peek(), TokenKind::Punctuation("{")) {
            return self.tagged(NameSpace::Structure, tag.as_deref());
        }
        let members = self.fields(true)?;
        let mut alignment = if self.accept_word("align") { self.struct_alignment()? } else { 1 };
        for member in &members {
            alignment = alignment.max(member.class.alignment());
        }
        let class = FieldClass::new(FieldKind::Structure { members, alignment });
        if let Some(tag) = tag {
            self.declare(NameSpace::Structure, &tag, class.clone())?;
        }
        Ok(class)
    }

    /// An alias such as `struct page *`, of which the words are read.
    fn pointer(&mut self, keyword: &str, tag: Option<&str>) -> Result<FieldClass> {
        let mut name = format!("{keyword} {}", tag.unwrap_or_default());
        while self.accept("*") {
            name.push_str(" *");
        }
        self.tagged(NameSpace::Alias, Some(&name))
    }

    fn struct_alignment(&mut self) -> Result<u32> {
        self.expect("(")?;
        let line = self.line();
        let value = super::attributes::Value::Integer(self.integer()?);
        self.expect(")")?;
        constants::alignment(&Attribute { key: "align".to_owned(), value, line })
    }

    fn variant_type(&mut self) -> Result<FieldClass> {
        let line = self.line();
        self.advance();
        let tag = self.tag()?;
        let path = self.selector_path()?;
        let mut class = if matches!(self.peek(), TokenKind::Punctuation("{")) {
            let options = self.fields(false)?;
            let selector =
                Selector { path: Vec::new(), slot: 0, signed: false, ranges: Vec::new() };
            let class = FieldClass::new(FieldKind::Variant { options, selector });
            if let Some(tag) = &tag {
                self.declare(NameSpace::Variant, tag, class.clone())?;
            }
            class
        } else {
            self.tagged(NameSpace::Variant, tag.as_deref())?
        };
        if let (Some(path), FieldKind::Variant { selector, options }) = (path, &mut class.kind) {
            self.check_selector(&path, options, line)?;
            selector.path = path;
        }
        Ok(class)
    }

    fn selector_path(&mut self) -> Result<Option<Vec<String>>> {
        if !self.accept("<") {
            return Ok(None);
        }
        let path = self.reference()?;
        self.expect(">")?;
        Ok(Some(path))
    }

    /// Reads `{ type name, name[…]; … }` of a structure or a variant.
    fn fields(&mut self, structure: bool) -> Result<Vec<Member>> {
        self.expect("{")?;
        self.open_body(structure);
        while !self.accept("}") {
            self.field()?;
        }
        Ok(self.close_body())
    }

    fn field(&mut self) -> Result<()> {
        let TokenKind::Name(word) = self.peek() else {
            return Err(self.unexpected("a field"));
        };
        if matches!(word.as_str(), "typealias" | "typedef") {
            return self.type_declaration();
        }
        let class = self.nested(Self::type_specifier)?;
        if self.accept(";") {
            // Only a tagged type was declared.
            return Ok(());
        }
        loop {
            let (name, declared) = self.declarator(class.clone())?;
            self.add_member(name, declared)?;
            if !self.accept(",") {
                break;
            }
            self.charge_copy(&class)?;
        }
        self.expect(";")
    }

    /// Reads `name`, `name[4]`, `name[length][2]`, ….
    fn declarator(&mut self, class: FieldClass) -> Result<(String, FieldClass)> {
        let name = self.identifier()?;
        let mut dimensions = Vec::new();
        while self.accept("[") {
            dimensions.push(self.dimension()?);
            self.expect("]")?;
        }
        if dimensions.len() > super::MAX_TYPE_DEPTH as usize {
            return Err(self.error("an array has too many dimensions"));
        }
        // The last dimension is the innermost, as in C.
        let class = dimensions.into_iter().rev().fold(class, array);
        self.check_nesting(&class)?;
        Ok((name, class))
    }

    fn dimension(&mut self) -> Result<Dimension> {
        if let TokenKind::Integer(length) = *self.peek() {
            self.advance();
            return Ok(Dimension::Static(length));
        }
        let line = self.line();
        let path = self.reference()?;
        self.check_length(&path, line)?;
        Ok(Dimension::Dynamic(path))
    }
}

fn array(element: FieldClass, dimension: Dimension) -> FieldClass {
    let length = match dimension {
        Dimension::Static(length) => Length::Static(length),
        Dimension::Dynamic(path) => Length::Dynamic { path, slot: 0 },
    };
    FieldClass::new(FieldKind::Array { element: Box::new(element), length, text: false })
}

/// Integers of more than 64 bits are rare: they have a kind of their own.
fn integer_kind(class: IntegerClass) -> FieldKind {
    if class.size <= 64 {
        return FieldKind::Integer(class);
    }
    let IntegerClass { size, alignment, signed, order, base, clock, .. } = class;
    FieldKind::BitArray(Box::new(BitArrayClass {
        size,
        alignment,
        order,
        reversed: false,
        meaning: BitMeaning::Integer { signed, base, mappings: Vec::new() },
        uses: Uses { clock, ..Uses::default() },
    }))
}

/// CTF 1.8.3, section 4.1.2: whole bytes are byte-aligned, the rest is packed.
fn default_alignment(size: u32) -> u32 {
    if size % 8 == 0 {
        8
    } else {
        1
    }
}
