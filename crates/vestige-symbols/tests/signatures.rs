//! Parameters of functions in programs that a compiler has made.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{have, run, Scratch};
use vestige_symbols::{
    function_symbols, ObjectFile, ParameterPlace, Signature, ValueClass, ValueType,
};

const SOURCE: &str = "
typedef const char *words;
enum color { RED };
struct pair { long a, b, c; };
__attribute__((noinline, noclone)) double many(int a, unsigned char b, words c, float d,
    enum color e, _Bool f, void *g, long h, struct pair i)
{ __asm__ volatile(\"\"); return a + b + *c + d + e + f + (g != 0) + h + i.c; }
__attribute__((noinline, noclone)) void none(void) { __asm__ volatile(\"\"); }
int main(int count, char **words) {
    struct pair pair = {count, 2, 3};
    none();
    return many(count, 2, words[0], 4, RED, 1, words, 8, pair) > 0; }
";

fn signature_of(scratch: &Scratch, flags: &[&str], name: &str) -> Option<Option<Signature>> {
    let source = scratch.path("program.c");
    std::fs::write(&source, SOURCE).unwrap();
    let program = scratch.path("program");
    let mut arguments = flags.to_vec();
    arguments.extend(["-o", program.to_str().unwrap(), source.to_str().unwrap()]);
    if !have("gcc") || !run("gcc", &arguments) {
        return None;
    }
    let object = ObjectFile::new(Box::new(std::fs::read(&program).unwrap())).unwrap();
    let symbols = function_symbols(&[&object]).unwrap();
    let symbol = symbols.iter().find(|one| one.name == name).unwrap();
    Some(object.signature(symbol.start).unwrap())
}

#[test]
fn types_and_places_are_found_with_and_without_optimization() {
    for flags in [["-g", "-O2"], ["-gdwarf-4", "-O2"], ["-g", "-O0"]] {
        let scratch = Scratch::new(&format!("signature{}", flags.concat()));
        let Some(found) = signature_of(&scratch, &flags, "many") else { return };
        let found = found.unwrap();
        let classes: Vec<_> = found.parameters.iter().map(|one| one.value.class).collect();
        use ValueClass::{Boolean, Float, Other, Pointer, Signed, Text, Unsigned};
        let expected = [Signed, Unsigned, Text, Float, Unsigned, Boolean, Pointer, Signed, Other];
        assert_eq!(classes, expected);
        let sizes: Vec<_> = found.parameters.iter().map(|one| one.value.size).collect();
        assert_eq!(sizes, [4, 1, 8, 4, 4, 1, 8, 8, 24]);
        assert_eq!(found.parameters[0].name, b"a");
        assert_eq!(found.result, Some(ValueType { class: Float, size: 8 }));
        let place = found.parameters[0].place;
        if flags[1] == "-O2" {
            assert_eq!(place, ParameterPlace::Register(5));
            assert_eq!(found.parameters[3].place, ParameterPlace::Register(17));
            // The seventh that goes to a general register finds none.
            assert_eq!(found.parameters[7].place, ParameterPlace::Frame(0));
        } else {
            assert_eq!(place, ParameterPlace::Conventional);
        }
    }
}

#[test]
fn nothing_is_said_without_debug_information() {
    let scratch = Scratch::new("signature-none");
    let Some(found) = signature_of(&scratch, &["-O2"], "many") else { return };
    assert_eq!(found, None);
    let found = signature_of(&scratch, &["-O2", "-g"], "none").unwrap().unwrap();
    assert_eq!(found, Signature { parameters: Vec::new(), result: None });
}
