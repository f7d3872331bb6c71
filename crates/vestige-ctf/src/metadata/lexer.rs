//! Tokens of the Trace Stream Description Language (CTF 1.8.3, annex C).

use crate::error::{CtfError, Result};

/// A token with the line on which it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Line number from 1.
    pub line: u32,
}

/// The kinds of token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or a keyword.
    Name(String),
    /// An integer constant; the sign is a token of its own.
    Integer(u64),
    /// A floating point constant, which only a version number may be.
    Decimal(String),
    /// A string, unescaped.
    Text(String),
    /// Punctuation; `:=` and `...` are one token each.
    Punctuation(&'static str),
    /// The end of the text.
    End,
}

/// Longest first, so that a prefix does not win.
const PUNCTUATION: [&str; 19] = [
    "...", ":=", "->", "{", "}", "[", "]", "(", ")", "<", ">", ":", ";", ",", "=", ".", "*", "-",
    "+",
];

/// Reads tokens from TSDL text, one after the other.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    text: &'a [u8],
    position: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    /// A lexer at the beginning of `text`.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, position: 0, line: 1 }
    }

    /// The next token; [`TokenKind::End`] at the end of the text, again and again.
    ///
    /// # Errors
    ///
    /// At a byte that begins no token, or at a comment or a string that does not end.
    pub fn next_token(&mut self) -> Result<Token> {
        self.skip_blank()?;
        let line = self.line;
        Ok(Token { kind: self.token()?, line })
    }

    /// The line in which it stands.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.line
    }
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.position + ahead).copied()
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn error(&self, message: impl Into<String>) -> CtfError {
        CtfError::metadata(self.line, message)
    }

    fn skip_blank(&mut self) -> Result<()> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b'\n'), _) => {
                    self.line += 1;
                    self.position += 1;
                }
                // Padding of a packet that ends up in the text counts as white space.
                (Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c | 0), _) => self.position += 1,
                (Some(b'/'), Some(b'/')) => {
                    while self.peek(0).is_some_and(|byte| byte != b'\n') {
                        self.position += 1;
                    }
                }
                (Some(b'/'), Some(b'*')) => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<()> {
        let length = memchr::memmem::find(self.rest(), b"*/")
            .ok_or_else(|| self.error("comment without its end '*/'"))?;
        let comment = self.text.get(self.position..self.position + length).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', comment).count() as u32;
        self.position += length + 2;
        Ok(())
    }

    fn token(&mut self) -> Result<TokenKind> {
        let Some(byte) = self.peek(0) else {
            return Ok(TokenKind::End);
        };
        match byte {
            b'L' if self.peek(1) == Some(b'"') => {
                self.position += 1;
                self.string()
            }
            b'"' => self.string(),
            b'\'' => self.character(),
            b'0'..=b'9' => self.number(),
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => Ok(self.name()),
            _ => self.punctuation(),
        }
    }

    fn punctuation(&mut self) -> Result<TokenKind> {
        let rest = self.rest();
        let found = PUNCTUATION.iter().find(|text| rest.starts_with(text.as_bytes()));
        let Some(text) = found else {
            let byte = rest.first().copied().unwrap_or_default();
            return Err(self.error(format!("unexpected byte {byte:#04x} in the metadata")));
        };
        self.position += text.len();
        Ok(TokenKind::Punctuation(text))
    }

    fn word(&mut self, accept: impl Fn(u8) -> bool) -> String {
        let start = self.position;
        while self.peek(0).is_some_and(&accept) {
            self.position += 1;
        }
        let bytes = self.text.get(start..self.position).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn name(&mut self) -> TokenKind {
        TokenKind::Name(self.word(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    }

    fn number(&mut self) -> Result<TokenKind> {
        let word = self.word(|byte| byte.is_ascii_alphanumeric());
        if self.peek(0) == Some(b'.') && self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
            let fraction = self.word(|byte| byte.is_ascii_alphanumeric());
            return Ok(TokenKind::Decimal(format!("{word}.{fraction}")));
        }
        integer(&word)
            .map(TokenKind::Integer)
            .ok_or_else(|| self.error(format!("'{word}' is no integer of at most 64 bits")))
    }

    fn string(&mut self) -> Result<TokenKind> {
        self.position += 1;
        let bytes = self.quoted(b'"', "string without its closing quote")?;
        Ok(TokenKind::Text(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn character(&mut self) -> Result<TokenKind> {
        self.position += 1;
        let bytes = self.quoted(b'\'', "character constant without its closing quote")?;
        match bytes.as_slice() {
            [byte] => Ok(TokenKind::Integer(u64::from(*byte))),
            _ => Err(self.error("a character constant has exactly one character")),
        }
    }

    fn quoted(&mut self, quote: u8, unfinished: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            match self.peek(0) {
                None | Some(b'\n') => return Err(self.error(unfinished)),
                Some(byte) if byte == quote => {
                    self.position += 1;
                    return Ok(bytes);
                }
                Some(b'\\') => {
                    self.position += 1;
                    bytes.extend(self.escape()?);
                }
                Some(byte) => {
                    self.position += 1;
                    bytes.push(byte);
                }
            }
        }
    }

    fn escape(&mut self) -> Result<Vec<u8>> {
        let byte = self.peek(0).ok_or_else(|| self.error("escape sequence cut"))?;
        self.position += 1;
        let simple = match byte {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'"' | b'\'' | b'\\' | b'?' => byte,
            b'x' => return self.numeric_escape(16, 2),
            b'u' => return self.numeric_escape(16, 4),
            b'U' => return self.numeric_escape(16, 8),
            b'0'..=b'7' => {
                self.position -= 1;
                return self.numeric_escape(8, 3);
            }
            _ => return Err(self.error(format!("unknown escape sequence '\\{}'", byte as char))),
        };
        Ok(vec![simple])
    }

    fn numeric_escape(&mut self, base: u32, most: usize) -> Result<Vec<u8>> {
        let mut value = 0u32;
        let mut digits = 0;
        while let Some(digit) = self.peek(0).and_then(|byte| (byte as char).to_digit(base)) {
            if digits == most {
                break;
            }
            value = value.wrapping_mul(base).wrapping_add(digit);
            digits += 1;
            self.position += 1;
        }
        if digits == 0 {
            return Err(self.error("escape sequence without digits"));
        }
        if most > 3 {
            let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
            return Ok(character.to_string().into_bytes());
        }
        Ok(vec![value as u8])
    }
}

/// An integer constant with its base prefix and C suffixes.
fn integer(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return u64::from_str_radix(hexadecimal, 16).ok();
    }
    if let Some(binary) = digits.strip_prefix("0b").or_else(|| digits.strip_prefix("0B")) {
        return u64::from_str_radix(binary, 2).ok();
    }
    if digits.len() > 1 && digits.starts_with('0') {
        return u64::from_str_radix(digits, 8).ok();
    }
    digits.parse().ok()
}
