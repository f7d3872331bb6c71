//! What becomes of functions whose entries are written by hand, and of damaged objects.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use vestige_plan::{Choice, Method, Plan, Reason, Refusal};
use vestige_symbols::ObjectFile;

/// Each function after `f NAME`; `hidden` is described by no unwind table.
const FUNCTIONS: &str = r#"
    .macro f name
    .p2align 4, 0xcc
    .globl \name
    .type \name, @function
    \name:
    .cfi_startproc
    .endm
    .macro e name
    .cfi_endproc
    .size \name, . - \name
    .endm
    .text
f plain
    pushq %rbx
    movl %edi, %ebx
    leal (%rdi, %rdi), %eax
    popq %rbx
    ret
e plain
f marked
    endbr64
    movl $1, %eax
    ret
e marked
f relative
    movq number(%rip), %rax
    ret
e relative
f branching
    testl %edi, %edi
    je 1f
    movl $1, %eax
    ret
1:  xorl %eax, %eax
    ret
e branching
f calling
    call plain
    ret
e calling
f padded
    ret
e padded
f cut_off
    ret
e cut_off
    .globl close
    .type close, @function
close:
    .cfi_startproc
    movl $2, %eax
    ret
e close
f looping
    decl %edi
    jnz looping
    ret
e looping
f entered_inside
    nop
1:  decl %edi
    jnz 1b
    movl $3, %eax
    ret
e entered_inside
f reading
    movq (%rsp), %rax
    ret
e reading
f reading_below
    subq $24, %rsp
    movq 24(%rsp), %rax
    addq $24, %rsp
    ret
e reading_below
f argument
    movq 8(%rsp), %rax
    ret
e argument
f counting
    jrcxz 1f
    movl $4, %eax
1:  ret
e counting
f part
    .cfi_def_cfa_offset 32
    movl $5, %eax
    addq $24, %rsp
    ret
e part
f without_return
    .cfi_undefined %rip
    movl $6, %eax
    ret
e without_return
f setjmp
    movl $7, %eax
    ret
e setjmp
f memcpy
    movl $8, %eax
    ret
e memcpy
    .p2align 4, 0xcc
    .globl hidden
    .type hidden, @function
hidden:
    movl $9, %eax
    ret
    .size hidden, . - hidden
    .data
number: .quad 5
    .section .note.GNU-stack, "", @progbits
"#;

/// A directory of its own for one test, removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("vestige-plan-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Compiles a text; `None`, with a printed reason, where that cannot be done.
    fn compile(&self, name: &str, text: &str, flags: &[&str]) -> Option<Vec<u8>> {
        let (source, object) = (self.0.join(name), self.0.join("object"));
        std::fs::write(&source, text).unwrap();
        let mut command = Command::new("cc");
        command.args(flags).args(["-Wl,--build-id", "-o"]).arg(&object).arg(&source);
        match command.output() {
            Ok(run) if run.status.success() => Some(std::fs::read(&object).unwrap()),
            other => {
                println!("skipped: cc: {other:?}");
                None
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn object(data: Vec<u8>) -> ObjectFile {
    ObjectFile::new(Box::new(data)).unwrap()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn each_function_has_a_method_or_the_reason_against_it() {
    let scratch = Scratch::new("entries");
    let flags = ["-shared", "-nostdlib", "-Wl,-Bsymbolic"];
    let Some(data) = scratch.compile("functions.s", FUNCTIONS, &flags) else { return };
    let plan = Plan::make(&object(data), &[], Choice::All).unwrap().unwrap();
    let outcome = |name: &str| {
        let found = plan.functions().iter().find(|function| function.name == name);
        found.unwrap_or_else(|| panic!("no function {name}")).outcome
    };
    for name in ["plain", "marked", "relative", "branching", "padded", "close", "argument"] {
        assert_eq!(outcome(name), Ok(Method::Moved), "{name}");
    }
    let reasons = [
        ("cut_off", Reason::TooShort),
        ("looping", Reason::LoopAtEntry),
        ("entered_inside", Reason::BranchIntoEntry),
        ("reading", Reason::ReadsReturnAddress),
        ("reading_below", Reason::ReadsReturnAddress),
        ("counting", Reason::NotMovable),
        ("part", Reason::ColdPart),
        ("without_return", Reason::NoReturnAddress),
        ("setjmp", Reason::ReturnsTwice),
        ("memcpy", Reason::UsedByTracer),
        ("hidden", Reason::NoUnwinding),
    ];
    for (name, reason) in reasons {
        assert_eq!(outcome(name), Err(reason), "{name}");
    }
    assert_eq!(outcome("calling"), Ok(Method::Moved));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn sites_are_found_before_and_at_entries() {
    let text = "int one(int a) { return a + 1; }\nint two(int a) { return a + 2; }\n";
    let scratch = Scratch::new("sites");
    for flag in ["-fpatchable-function-entry=5", "-fpatchable-function-entry=16,11"] {
        for more in ["-fcf-protection=none", "-fcf-protection=full"] {
            let flags = ["-shared", "-fPIC", "-O2", "-nostdlib", flag, more];
            let Some(data) = scratch.compile("sites.c", text, &flags) else { return };
            let object = object(data);
            let plan = Plan::make(&object, &[], Choice::Sites).unwrap().unwrap();
            let found: Vec<_> =
                plan.functions().iter().map(|one| (one.name.as_str(), one.outcome)).collect();
            assert_eq!(
                found,
                [("one", Ok(Method::Site)), ("two", Ok(Method::Site))],
                "{flag} {more}"
            );
        }
    }
    let Some(data) = scratch.compile("none.c", text, &["-shared", "-fPIC", "-nostdlib"]) else {
        return;
    };
    let plan = Plan::make(&object(data), &[], Choice::Sites).unwrap().unwrap();
    assert!(plan.functions().is_empty());
}

#[test]
fn objects_with_hooks_and_objects_without_build_id_are_left_alone() {
    let scratch = Scratch::new("refused");
    let text = "int one(int a) { return a + 1; }\n";
    let basic = ["-shared", "-fPIC", "-nostdlib"];
    let with = |flag: &'static str| [&basic[..], &[flag]].concat();
    let hooked = scratch.compile("hooked.c", text, &with("-finstrument-functions"));
    let Some(hooked) = hooked else { return };
    let refusal = Plan::make(&object(hooked), &[], Choice::All).unwrap().err();
    let expected = if cfg!(target_arch = "x86_64") { Refusal::Hooks } else { Refusal::Machine };
    assert_eq!(refusal, Some(expected));
    if cfg!(target_arch = "x86_64") {
        let named = scratch.compile("named.c", text, &with("-Wl,-soname,libc.so.6")).unwrap();
        let refusal = Plan::make(&object(named), &[], Choice::All).unwrap().err();
        assert_eq!(refusal, Some(Refusal::Runtime));
    }
}

/// What this thread has used: a busy machine lets it wait as long as it likes.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn a_damaged_object_is_an_error_or_has_a_plan_as_long_as_it_says() {
    let scratch = Scratch::new("damaged");
    let flags = ["-shared", "-nostdlib", "-Wl,-Bsymbolic"];
    let Some(data) = scratch.compile("functions.s", FUNCTIONS, &flags) else { return };
    let start = processor_time();
    let mut state = 12_345_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize
    };
    for _ in 0..2_000 {
        let mut damaged = data.clone();
        for _ in 0..1 + next() % 4 {
            let at = next() % damaged.len();
            damaged[at] = next() as u8;
        }
        damaged.truncate(damaged.len() - if next() % 8 == 0 { next() % damaged.len() } else { 0 });
        let Ok(object) = ObjectFile::new(Box::new(damaged)) else { continue };
        if let Ok(Ok(plan)) = Plan::make(&object, &[], Choice::All) {
            let bytes = plan.to_bytes();
            assert_eq!(bytes[8..16], (bytes.len() as u64).to_le_bytes());
        }
    }
    let taken = processor_time() - start;
    assert!(taken < Duration::from_secs(60), "{taken:?}");
}
