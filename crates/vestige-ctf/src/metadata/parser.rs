//! The token cursor and the top level of TSDL.

use std::collections::{HashMap, VecDeque};

use super::lexer::{Lexer, Token, TokenKind};
use super::lines::ScopeLines;
use super::open_body::OpenBody;
use super::scope::Scopes;
use super::MAX_TYPE_DEPTH;
use crate::error::{CtfError, Result};
use crate::model::{ByteOrder, StreamClass, TraceClass};

/// How many tokens are known ahead of time.
const AHEAD: usize = 8;

/// A parser over the tokens of a text.
pub struct Parser<'a> {
    text: &'a [u8],
    lexer: Lexer<'a>,
    /// The next tokens: [`AHEAD`], or fewer of which the last is the end.
    tokens: VecDeque<Token>,
    lexer_error: Option<CtfError>,
    packet_order: Option<ByteOrder>,
    /// Where the `trace` block states the byte order.
    byte_order_line: Option<u32>,
    depth: u32,
    /// IDs and lines of the streams whose block was read; events may come before theirs.
    pub(super) declared_streams: HashMap<u64, u32>,
    stream_indexes: HashMap<u64, usize>,
    pub(super) clock_indexes: HashMap<String, usize>,
    /// The first event of each stream without a block yet: stream ID and line.
    pub(super) undeclared_streams: Vec<(u64, u32)>,
    /// Bodies of structures and variants around what is read.
    pub(super) bodies: Vec<OpenBody>,
    /// How much was copied of types that were used by their name.
    pub(super) copied: u64,
    pub(super) scopes: Scopes,
    pub(super) lines: ScopeLines,
    pub(super) trace: TraceClass,
}

impl<'a> Parser<'a> {
    /// A parser of `text`, from packets of a byte order or from a plain file.
    #[must_use]
    pub fn new(text: &'a [u8], packet_order: Option<ByteOrder>) -> Self {
        let mut scopes = Scopes::default();
        scopes.push();
        let mut parser = Self {
            text,
            lexer: Lexer::new(text),
            tokens: VecDeque::with_capacity(AHEAD),
            lexer_error: None,
            packet_order,
            byte_order_line: None,
            depth: 0,
            declared_streams: HashMap::new(),
            stream_indexes: HashMap::new(),
            clock_indexes: HashMap::new(),
            undeclared_streams: Vec::new(),
            bodies: Vec::new(),
            copied: 0,
            scopes,
            lines: ScopeLines::default(),
            trace: TraceClass::default(),
        };
        parser.fill();
        parser
    }

    /// Reads tokens until there are enough of them.
    fn fill(&mut self) {
        let at_end = |token: Option<&Token>| token.is_some_and(|last| last.kind == TokenKind::End);
        while self.tokens.len() < AHEAD && !at_end(self.tokens.back()) {
            let token = self.lexer.next_token().unwrap_or_else(|error| {
                // What is before the error counts: it is reported when the parser gets there.
                self.lexer_error = Some(error);
                Token { kind: TokenKind::End, line: self.lexer.line() }
            });
            self.tokens.push_back(token);
        }
    }

    /// Whether nothing is left to read.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        *self.peek() == TokenKind::End
    }

    /// The error at which the tokens end, if they do.
    pub fn lexer_error(&mut self) -> Option<CtfError> {
        self.lexer_error.take()
    }

    /// Reads the declarations up to the first error.
    ///
    /// The error is at the first line that is no TSDL or that contradicts an earlier one; it
    /// comes with whether the text ended there. Then only streams whose block was read are
    /// kept.
    pub fn read(&mut self) -> Option<(CtfError, bool)> {
        let error = self.all_blocks().err()?;
        // The last token may be one half of what stood there, such as ':' of ':='.
        let at_end = self.tokens.len() <= 2;
        let declared = &self.declared_streams;
        self.trace.stream_classes.retain(|stream| declared.contains_key(&stream.id));
        Some((error, at_end))
    }

    /// What was read, and where its scopes are.
    #[must_use]
    pub fn into_trace_class(self) -> (TraceClass, ScopeLines) {
        (self.trace, self.lines)
    }

    fn all_blocks(&mut self) -> Result<()> {
        // Types declared before the `trace` block already use its byte order.
        if let Some((order, line)) = self.find_byte_order()? {
            self.trace.order = order;
            self.byte_order_line = Some(line);
        }
        while *self.peek() != TokenKind::End {
            self.top_level()?;
        }
        for (id, line) in &self.undeclared_streams {
            // A trace without any stream block has one implicit stream.
            if *id != 0 && !self.declared_streams.contains_key(id) {
                let message = format!("event of stream {id}, which no stream block declares");
                return Err(CtfError::metadata(*line, message));
            }
        }
        if self.byte_order_line.is_none() {
            let message = "the metadata have no trace block; expected one with the byte_order \
                           (CTF 1.8.3, 7.4)";
            return Err(self.error(message));
        }
        Ok(())
    }

    fn top_level(&mut self) -> Result<()> {
        let word = match self.peek() {
            TokenKind::Name(word) => word.clone(),
            TokenKind::Punctuation(";") => {
                self.advance();
                return Ok(());
            }
            _ => return Err(self.unexpected("a declaration")),
        };
        match word.as_str() {
            "trace" => self.trace_block(),
            "env" => self.environment_block(),
            "clock" => self.clock_block(),
            "stream" => self.stream_block(),
            "event" => self.event_block(),
            "callsite" => self.callsite_block(),
            _ => self.type_declaration(),
        }
    }

    fn callsite_block(&mut self) -> Result<()> {
        self.advance();
        self.attributes()?;
        self.expect(";")
    }

    /// Looks ahead for `byte_order = …` directly inside the `trace` block.
    fn find_byte_order(&self) -> Result<Option<(ByteOrder, u32)>> {
        let mut lexer = Lexer::new(self.text);
        let mut depth = 0;
        let mut in_trace = false;
        // An error of the lexer is reported when the parser gets there.
        while let Ok(Token { kind, line }) = lexer.next_token() {
            match kind {
                TokenKind::End => break,
                TokenKind::Punctuation("{") => depth += 1,
                TokenKind::Punctuation("}") => depth -= 1,
                TokenKind::Name(word) if depth == 0 => in_trace = word == "trace",
                TokenKind::Name(word) if depth == 1 && in_trace && word == "byte_order" => {
                    let (Ok(equals), Ok(value)) = (lexer.next_token(), lexer.next_token()) else {
                        break;
                    };
                    return Ok(Some((trace_byte_order(&equals, &value)?, line)));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Checks the byte order once the `trace` block is read, whose first line is `line`.
    pub(super) fn check_byte_order(&self, line: u32) -> Result<()> {
        let Some(stated) = self.byte_order_line else {
            let message = "the trace block has no byte_order; expected le or be, which is \
                           required (CTF 1.8.3, 7.4)";
            return Err(CtfError::metadata(line, message));
        };
        if self.packet_order.is_some_and(|packets| packets != self.trace.order) {
            let message = "byte_order of the trace contradicts the metadata packets: expected \
                           the byte order of their magic number (CTF 1.8.3, 7.1)";
            return Err(CtfError::metadata(stated, message));
        }
        Ok(())
    }

    /// The next token.
    pub(super) fn peek(&self) -> &TokenKind {
        self.peek_ahead(0)
    }

    /// The token after `ahead` others, fewer than [`AHEAD`].
    pub(super) fn peek_ahead(&self, ahead: usize) -> &TokenKind {
        self.tokens.get(ahead).map_or(&TokenKind::End, |token| &token.kind)
    }

    /// The line of the next token.
    pub(super) fn line(&self) -> u32 {
        self.tokens.front().map_or(1, |token| token.line)
    }

    /// Steps over the next token.
    pub(super) fn advance(&mut self) {
        if self.tokens.len() > 1 {
            self.tokens.pop_front();
            self.fill();
        }
    }

    /// Steps over the punctuation if it is next.
    pub(super) fn accept(&mut self, text: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Punctuation(next) if *next == text);
        if found {
            self.advance();
        }
        found
    }

    /// Steps over the word if it is next.
    pub(super) fn accept_word(&mut self, text: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Name(next) if next == text);
        if found {
            self.advance();
        }
        found
    }

    /// Steps over the punctuation that must be next.
    pub(super) fn expect(&mut self, text: &str) -> Result<()> {
        if self.accept(text) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("'{text}'")))
        }
    }

    /// Reads a name.
    pub(super) fn name(&mut self) -> Result<String> {
        match self.peek().clone() {
            TokenKind::Name(name) => {
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Reads names joined by dots.
    pub(super) fn dotted_name(&mut self) -> Result<String> {
        let mut path = self.name()?;
        while self.accept(".") || self.accept("->") {
            path.push('.');
            path.push_str(&self.name()?);
        }
        Ok(path)
    }

    /// Reads an integer constant with its sign.
    pub(super) fn integer(&mut self) -> Result<i128> {
        let negative = self.accept("-");
        if !negative {
            self.accept("+");
        }
        match self.peek() {
            &TokenKind::Integer(value) => {
                self.advance();
                Ok(if negative { -i128::from(value) } else { i128::from(value) })
            }
            _ => Err(self.unexpected("an integer")),
        }
    }

    /// Runs `read` one level deeper, and refuses to go deeper than any tracer does.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_TYPE_DEPTH {
            return Err(self.error(format!("types are nested more than {MAX_TYPE_DEPTH} deep")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// An error at the next token.
    pub(super) fn error(&self, message: impl Into<String>) -> CtfError {
        CtfError::metadata(self.line(), message)
    }

    /// An error that names the next token and what should stand there.
    pub(super) fn unexpected(&self, expected: &str) -> CtfError {
        let found = match self.peek() {
            TokenKind::Name(word) => format!("'{word}'"),
            TokenKind::Integer(value) => format!("'{value}'"),
            TokenKind::Decimal(text) => format!("'{text}'"),
            TokenKind::Text(text) => format!("\"{text}\""),
            TokenKind::Punctuation(text) => format!("'{text}'"),
            TokenKind::End => "the end of the metadata".to_owned(),
        };
        self.error(format!("expected {expected}, found {found}"))
    }

    /// The index of the stream class of an ID, which is made when it does not exist yet.
    pub(super) fn stream_index(&mut self, id: u64) -> usize {
        let classes = &mut self.trace.stream_classes;
        *self.stream_indexes.entry(id).or_insert_with(|| {
            classes.push(StreamClass { id, ..StreamClass::default() });
            classes.len() - 1
        })
    }
}

fn trace_byte_order(equals: &Token, value: &Token) -> Result<ByteOrder> {
    let wrong = || {
        let message = "byte_order of the trace: expected le or be (CTF 1.8.3, 4.1.3)";
        CtfError::metadata(value.line, message)
    };
    if equals.kind != TokenKind::Punctuation("=") {
        return Err(CtfError::metadata(equals.line, "expected '=' after byte_order"));
    }
    let TokenKind::Name(word) = &value.kind else { return Err(wrong()) };
    match word.as_str() {
        "le" => Ok(ByteOrder::Little),
        // An alias that is meant for types only, but there is no doubt about its meaning.
        "be" | "network" => Ok(ByteOrder::Big),
        _ => Err(wrong()),
    }
}
