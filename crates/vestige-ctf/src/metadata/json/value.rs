//! JSON texts (RFC 8259) whose values know where they stand.
//!
//! An error in metadata has to name the place, so every value keeps its byte offset; and
//! bounds of integer ranges go beyond the 64 bits of most readers.

use std::collections::HashSet;
use std::ops::Range;

/// Deepest nesting that is read: a field class takes up to four levels.
const MAX_DEPTH: u32 = 320;

/// A value and where it stands in the metadata text.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// What it is.
    pub data: Data,
    /// Its bytes.
    pub span: Range<usize>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number without fraction and exponent that fits.
    Integer(i128),
    /// Any other number.
    Number,
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Value>),
    /// The properties of an object, in order.
    Object(Vec<(String, Value)>),
}

/// What is wrong with a text and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// Byte offset.
    pub offset: usize,
    /// What was expected, or what is wrong.
    pub message: String,
}

/// Reads the one JSON text in a range of some bytes.
///
/// # Errors
///
/// When these bytes are anything else.
pub fn parse(bytes: &[u8], range: Range<usize>) -> Result<Value, Invalid> {
    let mut parser = Parser { bytes: bytes.get(..range.end).unwrap_or(bytes), at: range.start };
    let value = parser.value(0)?;
    parser.space();
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.expected("the end of the fragment")),
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn expected(&self, what: &str) -> Invalid {
        let found = match self.peek() {
            None => "the end of the fragment".to_owned(),
            Some(byte @ 0x21..=0x7e) => format!("'{}'", byte as char),
            Some(byte) => format!("byte {byte:#04x}"),
        };
        let end = what == "the end of the fragment" && self.peek().is_none();
        let message =
            if end { "no JSON text".to_owned() } else { format!("expected {what}, found {found}") };
        Invalid { offset: self.at, message }
    }

    fn wrong(offset: usize, message: &str) -> Invalid {
        Invalid { offset, message: message.to_owned() }
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: u32) -> Result<Value, Invalid> {
        self.space();
        let start = self.at;
        if depth > MAX_DEPTH {
            return Err(Self::wrong(start, "JSON values are nested more than 320 deep"));
        }
        let data = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Data::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Data::Boolean(true))?,
            Some(b'f') => self.word("false", Data::Boolean(false))?,
            Some(b'n') => self.word("null", Data::Null)?,
            _ => return Err(self.expected("a JSON value")),
        };
        Ok(Value { data, span: start..self.at })
    }

    fn word(&mut self, word: &str, data: Data) -> Result<Data, Invalid> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.expected("a JSON value"));
        }
        self.at += word.len();
        Ok(data)
    }

    fn object(&mut self, depth: u32) -> Result<Data, Invalid> {
        self.at += 1;
        let mut properties = Vec::new();
        let mut names = HashSet::new();
        self.space();
        if self.accept(b'}') {
            return Ok(Data::Object(properties));
        }
        loop {
            self.space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.expected("the name of a property"));
            }
            let name = self.string()?;
            if !names.insert(name.clone()) {
                return Err(Self::wrong(start, &format!("property '{name}' stands twice")));
            }
            self.space();
            if !self.accept(b':') {
                return Err(self.expected("':'"));
            }
            properties.push((name, self.value(depth + 1)?));
            self.space();
            if self.accept(b'}') {
                return Ok(Data::Object(properties));
            }
            if !self.accept(b',') {
                return Err(self.expected("',' or '}'"));
            }
        }
    }

    fn array(&mut self, depth: u32) -> Result<Data, Invalid> {
        self.at += 1;
        let mut elements = Vec::new();
        self.space();
        if self.accept(b']') {
            return Ok(Data::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.space();
            if self.accept(b']') {
                return Ok(Data::Array(elements));
            }
            if !self.accept(b',') {
                return Err(self.expected("',' or ']'"));
            }
        }
    }

    fn digits(&mut self) -> Result<usize, Invalid> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.expected("a digit"));
        }
        Ok(self.at - start)
    }

    fn number(&mut self) -> Result<Data, Invalid> {
        let start = self.at;
        self.accept(b'-');
        let first = self.at;
        if self.digits()? > 1 && self.bytes.get(first) == Some(&b'0') {
            return Err(Self::wrong(first, "a number does not start with 0"));
        }
        let mut whole = true;
        if self.accept(b'.') {
            whole = false;
            self.digits()?;
        }
        if self.accept(b'e') || self.accept(b'E') {
            whole = false;
            let _ = self.accept(b'+') || self.accept(b'-');
            self.digits()?;
        }
        let text = self.bytes.get(start..self.at).unwrap_or_default();
        let integer = std::str::from_utf8(text).ok().filter(|_| whole);
        let integer = integer.and_then(|text| text.parse().ok());
        Ok(integer.map_or(Data::Number, Data::Integer))
    }

    fn string(&mut self) -> Result<String, Invalid> {
        let start = self.at;
        self.at += 1;
        let mut text = Vec::new();
        loop {
            match self.peek() {
                None => return Err(Self::wrong(start, "a string without an end")),
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut text)?,
                Some(0..=0x1f) => {
                    return Err(Self::wrong(self.at, "a control character within a string"));
                }
                Some(byte) => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        String::from_utf8(text).map_err(|_| Self::wrong(start, "a string that is no UTF-8"))
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), Invalid> {
        let start = self.at;
        self.at += 1;
        let byte = match self.peek() {
            Some(b'u') => {
                let character = self.unicode_escape(start)?;
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            _ => return Err(Self::wrong(start, "an unknown escape in a string")),
        };
        text.push(byte);
        self.at += 1;
        Ok(())
    }

    /// Reads `uXXXX`, and the second half of a surrogate pair.
    fn unicode_escape(&mut self, start: usize) -> Result<char, Invalid> {
        let wrong = || Self::wrong(start, "an escape that is no Unicode codepoint");
        let first = self.four_digits().ok_or_else(wrong)?;
        let code = if (0xd800..0xdc00).contains(&first) {
            let paired = self.accept(b'\\') && self.peek() == Some(b'u');
            let second = if paired { self.four_digits() } else { None };
            let second = second.filter(|code| (0xdc00..0xe000).contains(code)).ok_or_else(wrong)?;
            0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
        } else {
            first
        };
        char::from_u32(code).ok_or_else(wrong)
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at + 1..self.at + 5)?;
        let code = digits
            .iter()
            .try_fold(0, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))?;
        self.at += 5;
        Some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Result<Data, Invalid> {
        parse(text.as_bytes(), 0..text.len()).map(|value| value.data)
    }

    fn refused(text: &str, offset: usize, message: &str) {
        let expected = Invalid { offset, message: message.to_owned() };
        assert_eq!(data(text), Err(expected), "{text}");
    }

    #[test]
    fn integers_keep_every_digit() {
        assert_eq!(data(" 18446744073709551615 "), Ok(Data::Integer(u64::MAX.into())));
        assert_eq!(data("-9223372036854775808"), Ok(Data::Integer(i64::MIN.into())));
        assert_eq!(data("1.0"), Ok(Data::Number));
        assert_eq!(data("1e3"), Ok(Data::Number));
        assert_eq!(data(&"9".repeat(60)), Ok(Data::Number));
    }

    #[test]
    fn strings_may_hold_any_codepoint() {
        let text = r#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é""#;
        let expected = "a\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}\u{e9}".to_owned();
        assert_eq!(data(text), Ok(Data::Text(expected)));
    }

    #[test]
    fn values_know_their_place() {
        let text = r#"x{"a": [1, true], "b": null}"#;
        let Ok(Value { data: Data::Object(properties), span }) =
            parse(text.as_bytes(), 1..text.len())
        else {
            panic!("an object");
        };
        assert_eq!(span, 1..text.len());
        let spans: Vec<&str> =
            properties.iter().map(|(_, value)| &text[value.span.clone()]).collect();
        assert_eq!(spans, ["[1, true]", "null"]);
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        refused("", 0, "expected a JSON value, found the end of the fragment");
        refused("{} x", 3, "expected the end of the fragment, found 'x'");
        refused("{\"a\" 1}", 5, "expected ':', found '1'");
        refused("{\"a\": 1 ", 8, "expected ',' or '}', found the end of the fragment");
        refused("{\"a\": 1,}", 8, "expected the name of a property, found '}'");
        refused("{\"a\": 1, \"a\": 2}", 9, "property 'a' stands twice");
        refused("[1 2]", 3, "expected ',' or ']', found '2'");
        refused("[01]", 1, "a number does not start with 0");
        refused("-", 1, "expected a digit, found the end of the fragment");
        refused("\"abc", 0, "a string without an end");
        refused("\"\\x\"", 1, "an unknown escape in a string");
        refused("\"\\ud800\"", 1, "an escape that is no Unicode codepoint");
        refused("\"\n\"", 1, "a control character within a string");
        refused("nul", 0, "expected a JSON value, found 'n'");
        refused(&"[".repeat(1000), 321, "JSON values are nested more than 320 deep");
    }
}
