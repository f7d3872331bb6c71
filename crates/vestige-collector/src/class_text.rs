//! What a program may say of an event class: the TSDL that the tracer writes, and no other.
//!
//! The text comes from memory that the program can write to, and goes to the metadata of all
//! programs of the recording, which may be another user's. A brace too many, or a size that no
//! reader takes, would make the whole trace unreadable. So the text is not only looked through
//! for what is dangerous: it has to be what `tracer/hooks/event_class.c` writes, to the letter.

use std::collections::HashSet;

/// What is left to read of a text.
struct Cursor<'a> {
    rest: &'a str,
    /// Names of the fields before.
    names: HashSet<&'a str>,
}

/// Whether a text is that of an event class without its ID.
pub fn is_class(text: &str) -> bool {
    let mut cursor = Cursor { rest: text, names: HashSet::new() };
    cursor.class().is_some() && cursor.rest.is_empty()
}

impl<'a> Cursor<'a> {
    fn take(&mut self, expected: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    /// Whether the text goes on so; it is taken then.
    fn has(&mut self, expected: &str) -> bool {
        self.take(expected).is_some()
    }

    /// The longest part, not empty, of which all characters are good.
    fn span(&mut self, is_good: impl Fn(char) -> bool) -> Option<&'a str> {
        let end = self.rest.find(|one| !is_good(one)).unwrap_or(self.rest.len());
        let (part, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        (!part.is_empty()).then_some(part)
    }

    fn number<N: std::str::FromStr>(&mut self) -> Option<N> {
        self.span(|one| one == '-' || one.is_ascii_digit())?.parse().ok()
    }

    fn name(&mut self) -> Option<&'a str> {
        self.span(|one| one == '_' || one.is_ascii_alphanumeric())
    }

    /// A text between quotation marks, in which they have a backslash before them.
    fn quoted(&mut self) -> Option<()> {
        self.take("\"")?;
        while !self.has("\"") {
            if self.has("\\") {
                self.rest = self.rest.strip_prefix(['"', '\\', 'n'])?;
            } else {
                self.span(|one| !matches!(one, '"' | '\\' | '\n' | '\0'))?;
            }
        }
        Some(())
    }

    fn class(&mut self) -> Option<()> {
        self.take("\tname = ")?;
        self.quoted()?;
        self.take(";\n\tstream_id = 0;\n\tloglevel = ")?;
        self.number::<i32>()?;
        self.take(";\n")?;
        if self.has("\tmodel.emf.uri = ") {
            self.quoted()?;
            self.take(";\n")?;
        }
        self.take("\tfields := struct { ")?;
        while !self.has("};\n") {
            self.field()?;
        }
        Some(())
    }

    fn field(&mut self) -> Option<()> {
        if self.has("floating_point { exp_dig = ") {
            let is_known = self.has("8; mant_dig = 24") || self.has("11; mant_dig = 53");
            self.take("; align = 8; } ").filter(|()| is_known)?;
            self.field_name()?;
        } else if self.has("string ") {
            self.field_name()?;
        } else if self.has("enum : ") {
            self.integer()?;
            self.labels()?;
            self.take(" ")?;
            self.field_name()?;
        } else {
            let is_signed = self.integer()?;
            self.take(" ")?;
            let name = self.field_name()?;
            self.elements(name, is_signed)?;
        }
        self.take("; ")
    }

    /// A name that no field before has.
    fn field_name(&mut self) -> Option<&'a str> {
        let name = self.name()?;
        self.add_name(name).map(|()| name)
    }

    fn add_name(&mut self, name: &'a str) -> Option<()> {
        // Without it, a name could be a word of the language.
        (name.starts_with('_') && self.names.insert(name)).then_some(())
    }

    /// What makes a field an array, or the length of the sequence that comes after it.
    fn elements(&mut self, name: &str, is_signed: bool) -> Option<()> {
        if self.has("[") {
            self.number::<u32>()?;
            return self.take("]");
        }
        if !name.starts_with("__") || !name.ends_with("_length") || is_signed {
            return Some(());
        }
        // A field may be called so that is none.
        let before = self.rest;
        if self.sequence(name).is_none() {
            self.rest = before;
        }
        Some(())
    }

    /// The names are as before where there is none.
    fn sequence(&mut self, length: &str) -> Option<()> {
        self.take("; ")?;
        self.integer()?;
        self.take(" ")?;
        let name = self.name()?;
        self.take("[")?;
        self.take(length)?;
        self.take("]")?;
        self.add_name(name)
    }

    /// Whether it is signed.
    fn integer(&mut self) -> Option<bool> {
        self.take("integer { size = ")?;
        let bits = self.number::<u32>()?;
        self.take("; align = 8; signed = ")?;
        let is_signed = self.number::<u32>()?;
        self.take(";")?;
        if self.has(" base = ") && !self.has("10;") {
            self.take("16;")?;
        }
        // In this order, and each at most once.
        self.has(" encoding = UTF8;");
        self.has(" byte_order = be;");
        self.take(" }")?;
        let is_good = matches!(bits, 8 | 16 | 32 | 64) && is_signed <= 1;
        is_good.then_some(is_signed == 1)
    }

    fn label_value(&mut self) -> Option<i128> {
        let value = self.number::<i128>()?;
        (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then_some(value)
    }

    fn labels(&mut self) -> Option<()> {
        self.take(" { ")?;
        loop {
            self.quoted()?;
            self.take(" = ")?;
            let first = self.label_value()?;
            self.take(" ... ")?;
            if self.label_value()? < first {
                return None;
            }
            if !self.has(", ") {
                return self.take(" }");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_class;

    fn class(fields: &str) -> String {
        format!(
            "\tname = \"a:b\";\n\tstream_id = 0;\n\tloglevel = 13;\n\tfields := struct {{ {fields}}};\n"
        )
    }

    #[test]
    fn what_the_tracer_writes_is_taken() {
        for fields in [
            "",
            "string _text; ",
            "integer { size = 32; align = 8; signed = 1; base = 10; } _number; ",
            "integer { size = 8; align = 8; signed = 0; base = 16; encoding = UTF8; } _t[16]; ",
            "integer { size = 16; align = 8; signed = 0; base = 10; byte_order = be; } _port; ",
            "floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _ratio; ",
            "integer { size = 64; align = 8; signed = 0; } __all_length; \
             integer { size = 8; align = 8; signed = 1; base = 10; } _all[__all_length]; ",
            "integer { size = 64; align = 8; signed = 0; } __one_length; \
             integer { size = 64; align = 8; signed = 0; } __two_length; \
             integer { size = 8; align = 8; signed = 1; base = 10; } _all[__two_length]; ",
            "enum : integer { size = 32; align = 8; signed = 1; base = 10; } \
             { \"a \\\"b\\\"\" = -1 ... -1, \"c\" = 0 ... 7 } _kind; ",
        ] {
            assert!(is_class(&class(fields)), "{fields}");
        }
        let with_address =
            class("").replace("\tfields", "\tmodel.emf.uri = \"http://a\";\n\tfields");
        assert!(is_class(&with_address));
    }

    #[test]
    fn what_leaves_the_class_is_refused() {
        for fields in [
            "}; }; env { a = 1; }; event { id = 7; x := struct { ",
            "/* ",
            "// ",
            "string _a; string _a; ",
            "string a; ",
            "variant <_tag> { string _a; } _b; ",
            "typealias integer { size = 8; } := one; ",
            "integer { size = 7; align = 8; signed = 0; base = 10; } _number; ",
            "integer { size = 8; align = 8; signed = 0; base = 10; } _number[__other]; ",
            "enum : integer { size = 8; align = 8; signed = 0; base = 10; } { \"a\" = 5 ... 4 } _e; ",
            "enum : integer { size = 8; align = 8; signed = 0; base = 10; } { \"a\" = 0 ... 99999999999999999999 } _e; ",
        ] {
            assert!(!is_class(&class(fields)), "{fields}");
        }
        for (good, bad) in [
            ("a:b", "a\"; }; trace { uuid = \"b"),
            ("a:b", "a\nb"),
            ("a:b", "a\\"),
            ("a:b", "a\\x"),
            ("= 13", "= 99999999999"),
            ("stream_id = 0", "stream_id = 1"),
        ] {
            assert!(!is_class(&class("").replace(good, bad)), "{bad}");
        }
        assert!(!is_class(&(class("") + "};")));
        assert!(!is_class(""));
    }
}
