//! Metadata that is wrong: what the error says, and in which line.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{refusal, HEAD};

/// `text` must be refused with `message`, in `line` counted from 1.
fn assert_refused(text: &str, line: u32, message: &str) {
    let error = refusal(text);
    assert!(error.message.contains(message), "{error}\n{text}");
    assert_eq!(error.line, Some(line), "{error}\n{text}");
    assert!(error.to_string().starts_with(&format!("line {line}: ")));
}

/// The same for fields of an event behind [`HEAD`]; the first line of `fields` is line 1.
fn assert_fields_refused(fields: &str, line: u32, message: &str) {
    let before = HEAD.lines().count() as u32;
    let text = format!("{HEAD}event {{ name = e; fields := struct {{ {fields} }}; }};");
    assert_refused(&text, before + line, message);
}

#[test]
fn bytes_that_begin_no_token() {
    assert_refused("trace {\n major = 1;\n @ };", 3, "unexpected byte 0x40");
    assert_refused("\n\n/* no end", 3, "comment without its end");
    assert_refused("env {\n a = \"open\n\"; };", 2, "string without its closing quote");
    assert_refused("env {\n a = \"\\q\"; };", 2, "unknown escape sequence");
    assert_refused("env {\n a = \"\\xzz\"; };", 2, "escape sequence without digits");
    assert_refused("env {\n a = 'ab'; };", 2, "exactly one character");
    assert_refused("env {\n a = 0x1ffffffffffffffff; };", 2, "at most 64 bits");
    assert_refused("env {\n a = 09; };", 2, "'09' is no integer");
}

#[test]
fn declarations_that_are_cut_or_malformed() {
    assert_refused("trace {\n major = 1;\n", 3, "the end of the metadata");
    assert_refused("trace {\n major 1; };", 2, "expected '=', found '1'");
    assert_refused("trace { major = 1 };", 1, "expected ';', found '}'");
    assert_refused("env { a = ; };", 1, "expected an integer, found ';'");
    assert_refused("{ };", 1, "expected a declaration");
    assert_refused("\nfoo { };", 2, "unknown type 'foo'");
    assert_refused("event { fields := integer { size = 8; }; };", 1, "expected a structure");
}

#[test]
fn attributes_of_the_wrong_kind() {
    assert_refused(
        "trace { byte_order = le; major = \"one\"; };",
        1,
        "attribute 'major': expected an integer",
    );
    assert_refused("trace { byte_order = le; minor = -1; };", 1, "attribute 'minor'");
    assert_refused(
        "trace { byte_order = le;\n uuid = \"1234\"; };",
        2,
        "attribute 'uuid': expected a UUID",
    );
    assert_refused("trace { byte_order = middle; };", 1, "expected le or be");
    assert_refused("trace { byte_order = 1; };", 1, "expected le or be");
    assert_refused("clock { name = c;\n freq = 0; };", 2, "a frequency above 0");
    assert_refused("clock { name = c;\n absolute = maybe; };", 2, "expected true, TRUE, 1");
    assert_refused("clock { freq = 1; };", 1, "clock without a name");
    assert_refused("clock { name = c; };\nclock { name = c; };", 2, "stands twice");
    assert_refused("event { name = 3; };", 1, "attribute 'name': expected a string");
    assert_refused("env { a = 0xffffffffffffffff; };", 1, "64-bit signed integer");
}

#[test]
fn integers_and_floats_that_cannot_be() {
    assert_fields_refused("integer { signed = true; } a;", 1, "integer without a size");
    assert_fields_refused("integer { size = 0; } a;", 1, "a size from 1 to 65536 bits");
    assert_fields_refused("integer { size = 65537; } a;", 1, "a size from 1 to 65536 bits");
    assert_fields_refused("integer {\n size = 8; align = 3; } a;", 2, "a power of two");
    assert_fields_refused("integer { size = 8; align = 65536; } a;", 1, "at most 32768 bits");
    assert_fields_refused("integer { size = 8; base = 7; } a;", 1, "2, 8, 10, 16");
    assert_fields_refused("integer { size = 8; encoding = ebcdic; } a;", 1, "UTF8");
    assert_fields_refused("integer { size = 8; byte_order = up; } a;", 1, "le, be");
    assert_fields_refused("integer { size = 8; map = clock.x.value; } a;", 1, "declared before");
    assert_fields_refused("integer { size = 8; map = c; } a;", 1, "clock.NAME.value");
    assert_fields_refused(
        "floating_point { exp_dig = 5; mant_dig = 11; } a;",
        1,
        "expected 8 and 24",
    );
    assert_fields_refused("struct { u8 a; } align(12) s;", 1, "a power of two");
}

#[test]
fn enumerations_that_cannot_be() {
    assert_fields_refused("enum { a } x;", 1, "enum without a container");
    assert_fields_refused("typedef string text; enum : text { a } x;", 1, "expected an integer");
    assert_fields_refused("enum : u8 {\n a = 2 ... 1 } x;", 2, "its range is empty");
    assert_fields_refused("enum : u8 { 1 } x;", 1, "expected an enum label");
    assert_fields_refused("enum nothing x;", 1, "unknown type 'nothing'");
}

#[test]
fn names_that_are_unknown_or_stand_twice() {
    assert_fields_refused("u8 a;\n nothing b;", 2, "unknown type 'nothing'");
    assert_fields_refused("struct nothing a;", 1, "unknown type 'nothing'");
    assert_fields_refused("u8 a;\n u8 a;", 2, "field 'a' stands twice");
    assert_fields_refused("typedef u8 t; typedef u8 t;", 1, "declared twice in this block");
    assert_fields_refused("struct t { }; struct t { };", 1, "declared twice");
    assert_fields_refused("enum t : u8 { a }; enum t : u8 { a };", 1, "declared twice");
}

#[test]
fn streams_and_events_that_contradict_each_other() {
    assert_refused("stream { id = 1; };\nstream { id = 1; };", 2, "stream 1 stands twice");
    let two = "stream { id = 1; event.header := struct { integer { size = 8; } id; }; };\n";
    let same =
        format!("{two}event {{ id = 1; stream_id = 1; }};\nevent {{ id = 1; stream_id = 1; }};");
    assert_refused(&same, 3, "event 1 stands twice in stream 1");
    assert_refused(
        &format!("{two}event {{ id = 1; stream_id = 9; }};"),
        2,
        "no stream block declares",
    );
    let many = "stream { id = 1; };\nstream { id = 2; };\nevent { name = e; };";
    assert_refused(many, 3, "event without stream_id");
    let unnumbered =
        format!("{two}event {{ id = 1; stream_id = 1; }};\nevent {{ stream_id = 1; }};");
    assert_refused(&unnumbered, 3, "event without id");
}

/// Some errors are about the whole and have no line; they name the field instead.
#[test]
fn what_cannot_be_decoded_is_refused_before_any_data_is_read() {
    let fields = |fields: &str| {
        refusal(&format!("{HEAD}event {{ name = e; fields := struct {{ {fields} }}; }};")).message
    };
    assert!(fields("u8 a[n]; u8 n;").contains("'n' names no field that is read before it"));
    assert!(fields("u8 a[event.fields.n];").contains("'event.fields.n' names no field"));
    assert!(fields("integer { size = 8; signed = true; } n; u8 a[n];").contains("is signed"));
    assert!(fields("string n; u8 a[n];").contains("'n' is no integer"));
    assert!(fields("u8 n; variant <n> { u8 a; } v;").contains("is no enumeration"));
    assert!(fields("variant { u8 a; } v;").contains("variant without a selector"));
    let whole = |text: &str| refusal(text).message;
    assert!(whole("").contains("metadata is empty"));
    assert!(whole("\n\0\0 /* nothing */ \n").contains("declares nothing"));
    assert!(whole(&format!("{HEAD}stream {{ id = 0; }}; stream {{ id = 1; }};"))
        .contains("no 'stream_id'"));
    let events = "event { id = 0; stream_id = 0; }; event { id = 1; stream_id = 0; };";
    assert!(whole(&format!("{HEAD}{events}")).contains("its event header has no 'id'"));
    let late =
        format!("{HEAD}trace {{ packet.header := struct {{ u8 a; u32 magic; }}; }}; event {{ }};");
    assert!(whole(&late).contains("'magic' must be the first field"));
    let uuid =
        format!("{HEAD}trace {{ packet.header := struct {{ u8 uuid[15]; }}; }}; event {{ }};");
    assert!(whole(&uuid).contains("array of 16 bytes"));
    let signed = format!(
        "{HEAD}stream {{ packet.context := struct {{ integer {{ size = 8; signed = true; }} \
         packet_size; }}; }};"
    );
    assert!(whole(&signed).contains("'packet_size' must be an unsigned integer"));
}

#[test]
fn nesting_is_bounded_however_it_is_written() {
    let written = format!("{} u8 a; {}", "struct { ".repeat(330), "} s; ".repeat(330));
    assert_fields_refused(&written, 1, "nested more than 260 deep");
    let dimensions = format!("u8 a{};", "[1]".repeat(330));
    assert_fields_refused(&dimensions, 1, "too many dimensions");
    let mut chain = "typedef u8 t0[1];\n".to_owned();
    for index in 0..400 {
        chain.push_str(&format!("typedef t{index} t{}[1];\n", index + 1));
    }
    assert_fields_refused(&chain, 260, "nested more than 260 deep");
}

/// As deep as the stress cases of the CTF test suite begin.
#[test]
fn structures_nest_256_deep() {
    let fields = format!("{} u8 a; {}", "struct { ".repeat(256), "} s; ".repeat(256));
    assert!(common::payload(&fields).fixed_size == Some(8));
}

#[test]
fn types_that_double_again_and_again_are_refused_at_once() {
    let mut types = "typedef u8 t0;\n".to_owned();
    for index in 0..60 {
        types.push_str(&format!("typedef struct {{ t{index} a; t{index} b; }} t{};\n", index + 1));
    }
    let text = format!("{HEAD}{types}event {{ name = e; fields := struct {{ t60 a; }}; }};");
    assert!(refusal(&text).message.contains("more than a million fields"));
}
