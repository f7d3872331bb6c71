//! What CTF 1.8.3 forbids in metadata: each rule with its line and its section.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{parse, payload, refusal, text_of, BitWriter, HEAD};
use vestige_ctf::model::ByteOrder::Little;

/// `text` must be refused in `line` counted from 1, for a reason of section `section`.
fn assert_refused(text: &str, line: u32, message: &str, section: &str) {
    let error = refusal(text);
    assert!(error.message.contains(message), "{error}\n{text}");
    assert!(error.message.contains(&format!("(CTF 1.8.3, {section})")), "{error}\n{text}");
    assert_eq!(error.line, Some(line), "{error}\n{text}");
}

/// The same for what stands behind [`HEAD`], from whose end lines are counted.
fn assert_rest_refused(rest: &str, line: u32, message: &str, section: &str) {
    let before = HEAD.lines().count() as u32;
    assert_refused(&format!("{HEAD}{rest}"), before + line, message, section);
}

#[test]
fn a_keyword_is_no_name_of_a_field_or_a_type() {
    for keyword in ["trace", "stream", "callsite", "int", "align", "_Bool"] {
        let message = format!("the keyword '{keyword}' is no name");
        assert_rest_refused(&format!("struct s {{\n u8 {keyword};\n}};"), 2, &message, "C.1.2");
        assert_rest_refused(&format!("typedef u8 {keyword};"), 1, &message, "C.1.2");
        assert_rest_refused(&format!("struct {keyword} {{ u8 a; }};"), 1, &message, "C.1.2");
        let length = format!("struct s {{ u8 a[{keyword}]; }};");
        assert_rest_refused(&length, 1, &message, "C.1.2");
        let selector = format!("struct s {{ variant <{keyword}> {{ u8 a; }} v; }};");
        assert_rest_refused(&selector, 1, &message, "C.1.2");
    }
    let message = "the keyword 'trace'";
    assert_rest_refused("typealias integer { size = 8; } := trace;", 1, message, "C.1.2");
}

#[test]
fn keywords_of_c_name_aliases_and_labels_may_be_any_word() {
    let fields = "typealias integer { size = 8; } := int; int _int; \
                  enum : u8 { trace, int } label; u8 _stream;";
    let text = text_of(Little, fields, &BitWriter::new(Little).raw(&[1, 1, 2]));
    assert_eq!(text, "{ int = 1, label = ( \"int\" : container = 1 ), stream = 2 }");
}

#[test]
fn an_alias_may_be_a_pointer_to_a_structure() {
    let fields = "typealias integer { size = 16; base = x; } := struct page *; struct page * p;";
    let text = text_of(Little, fields, &BitWriter::new(Little).put(0xbeef, 16));
    assert_eq!(text, "{ p = 0xBEEF }");
}

#[test]
fn words_of_types_are_not_quoted() {
    let refused = |attribute: &str, section: &str| {
        let text = format!("typealias integer {{ size = 8;\n {attribute}; }} := t;");
        assert_rest_refused(&text, 2, "expected", section);
    };
    refused("signed = \"true\"", "7.1");
    refused("base = \"decimal\"", "4.1.5");
    refused("encoding = \"ascii\"", "4.1.5");
    refused("byte_order = \"le\"", "4.1.3");
}

#[test]
fn labels_are_values_of_their_container() {
    let message = "enum label 'a' is outside of its container: expected values from 0 to 255";
    assert_rest_refused("enum e : u8 {\n a = 256 };", 2, message, "4.1.8");
    assert_rest_refused("enum e : u8 { a = -1 };", 1, message, "4.1.8");
    assert_rest_refused("enum e : u8 { a = 200 ... 300 };", 1, message, "4.1.8");
    let signed = "enum e : integer { size = 8; signed = true; } { a = 128 };";
    assert_rest_refused(signed, 1, "values from -128 to 127", "4.1.8");
    let full = payload(
        "enum : u64 { a = 18446744073709551615 } x; \
         enum : integer { size = 64; signed = true; } { a = -9223372036854775807 } y;",
    );
    assert_eq!(full.members().len(), 2);
}

/// LTTng takes the labels from the program as they are; they never apply.
#[test]
fn labels_of_lttng_may_be_outside_of_their_container() {
    let environment = "env { tracer_name = \"lttng-ust\"; };\n";
    let fields = "event { name = e; fields := struct { enum : u8 { a, b = 4000000000 } x; }; };";
    parse(&format!("{HEAD}{environment}{fields}"));
    let other = environment.replace("lttng-ust", "other");
    assert!(refusal(&format!("{HEAD}{other}{fields}"))
        .message
        .contains("outside of its container"));
}

#[test]
fn a_length_is_an_unsigned_integer_that_is_read_before() {
    assert_rest_refused("\ntypedef u8 a[x];", 2, "outside of any structure", "4.2.4");
    assert_rest_refused("typedef u8 a[u8];", 1, "outside of any structure", "4.2.4");
    assert_rest_refused("struct s { string n;\n u8 a[n]; };", 2, "'n' is no integer", "4.2.4");
    let signed = "struct s { integer { size = 8; signed = true; } n; u8 a[n]; };";
    assert_rest_refused(signed, 1, "'n' is signed", "4.2.4");
    let event = "event {\n fields := struct { u8 a[n]; u8 n; };\n};";
    assert_rest_refused(event, 2, "'n' names no field", "7.3.2");
}

/// Also in a type that no event uses.
#[test]
fn a_selector_is_an_enumeration_that_can_select() {
    let variant =
        |before: &str| format!("struct s {{ {before} t;\n variant <t> {{ u8 a; }} v; }};");
    for class in ["u8", "string", "floating_point { exp_dig = 8; mant_dig = 24; }"] {
        assert_rest_refused(&variant(class), 2, "'t' is no enumeration", "4.2.2");
    }
    let message = "has no label that is the name of an option";
    assert_rest_refused(&variant("enum : u8 { \" a \", b }"), 2, message, "4.2.2");
    parse(&format!("{HEAD}{}", variant("enum : u8 { a, b }")));
    let context = "stream { event.context := struct { enum : u8 { b } t; }; };\n";
    let event = "event { fields := struct { variant <stream.event.context.t> { u8 a; } v; }; };";
    assert_rest_refused(&format!("{context}{event}"), 2, message, "4.2.2");
}

#[test]
fn the_signature_states_the_version() {
    for version in [" 1", " 1.9", " 1.80", " 2.0", "1.8", " 100000000000000000000.8"] {
        let text = format!("/* CTF{version} */\n{HEAD}");
        assert_refused(&text, 1, "expected them to begin with '/* CTF 1.8'", "7.1");
    }
    parse(&format!("/* CTF 1.8 */\n{HEAD}"));
    parse(&format!("/* CTF 1.8.3 and more */\n{HEAD}"));
    parse(&format!("/* no signature */\n{HEAD}"));
}

#[test]
fn the_version_of_the_trace_is_1_8_if_it_is_stated() {
    let error = refusal("trace { byte_order = le;\n major = 2; };");
    assert!(error.message.contains("attribute 'major': expected 1"), "{error}");
    let error = refusal("trace { byte_order = le;\n minor = 9; };");
    assert!(error.message.contains("attribute 'minor': expected 8"), "{error}");
    parse("trace { byte_order = le; };");
}

#[test]
fn the_trace_states_its_byte_order() {
    assert_refused("\ntrace { major = 1; minor = 8; };", 2, "no byte_order", "7.4");
    assert_refused("env { a = 1; };\n", 2, "no trace block", "7.4");
}

#[test]
fn errors_about_a_scope_have_its_line() {
    let line = |text: &str| {
        let before = HEAD.lines().count() as u32;
        refusal(&format!("{HEAD}{text}")).line.unwrap() - before
    };
    let header = "trace { byte_order = le;\n packet.header := struct { u8 a; u32 magic; }; };";
    assert_eq!(line(header), 2);
    let signed = "integer { size = 8; signed = true; }";
    let context =
        format!("stream {{\n\n packet.context := struct {{ {signed} packet_size; }}; }};");
    assert_eq!(line(&context), 3);
    assert_eq!(line("stream { id = 0; };\nstream { id = 1; };"), 2);
    let events = "stream {\n event.header := struct { u8 a; }; };\nevent { id = 1; };\n\
                  event { id = 2; };";
    assert_eq!(line(events), 2);
    assert_eq!(line("event {\n context := struct { u8 a[n]; };\n fields := struct { }; };"), 2);
}

/// What a page of metadata names may be as long as the page; the message is not.
#[test]
fn messages_stay_short() {
    let name = "n".repeat(100_000);
    let error = refusal(&format!("{HEAD}struct s {{ {name} a; }};"));
    assert!(error.message.starts_with("unknown type 'nnn"), "{error}");
    assert!(error.message.len() < 1000);
}
