//! The programs that the tests compile.

use std::path::PathBuf;

use super::{have, run, Scratch};

pub const C_PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) int twice(int a) { return a * 2 + atoi("1"); }
static inline __attribute__((always_inline)) int nested(int a)
{
    int sum = 0;
    for (int i = 0; i < a; i++) {
        int square = i * i;
        sum += twice(square);
    }
    return sum + twice(a);
}
static __attribute__((noinline)) int outer(int a)
{
    int local(int b) { return b + a; }
    if (a > 100) { int big = nested(a); printf("%d\n", big); }
    return nested(a + 1) + local(a);
}
__attribute__((cold, noinline)) static void fail(const char *why) { fprintf(stderr, "%s\n", why); }
__attribute__((noinline)) int split(int a)
{
    if (__builtin_expect(a == 77, 0)) { fail("a"); fail("b"); abort(); }
    return a + outer(a);
}
int main(int argc, char **argv) { (void)argv; return split(argc) & 1; }
"#;

pub const CPP_PROGRAM: &str = r#"
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
namespace app {
struct Conn {
    int fd;
    explicit Conn(int f);
    ~Conn();
    int open(int flags);
    static int count(const std::string &name);
    template <typename T> __attribute__((noinline)) T get(T fallback) { return fallback + fd; }
};
Conn::Conn(int f) : fd(f) { if (f < 0) throw std::runtime_error("negative"); }
Conn::~Conn() { std::printf("closed\n"); }
int Conn::open(int flags) {
    std::vector<int> seen;
    auto add = [&](int a) { seen.push_back(a * flags); return a; };
    for (int i = 0; i < fd; i++) add(i);
    try { if (flags == 3) throw std::logic_error("three"); } catch (const std::logic_error &) { return -1; }
    return static_cast<int>(seen.size());
}
int Conn::count(const std::string &name) { return static_cast<int>(name.size()); }
namespace { __attribute__((noinline)) int hidden(int a) { return a ^ std::rand(); } }
}
int main(int argc, char **) {
    app::Conn conn(argc);
    auto lambda = [](int a) __attribute__((noinline)) { return a + app::Conn::count("x") + std::rand(); };
    return conn.open(argc) + lambda(argc) + conn.get<long>(argc) + app::hidden(argc);
}
"#;

pub const ASSEMBLY: &str = r#"
    .text
    .globl first_unsized
    .type first_unsized, @function
first_unsized:
    nop
    nop
    ret
    .globl second_untyped
second_untyped:
    nop
    ret
    .globl main
    .type main, @function
main:
    xor %eax, %eax
    ret
    .size main, . - main
    .skip 64, 0x90
"#;

/// Compiles a program; `None`, with a printed reason, when that is not possible here.
pub fn compile(scratch: &Scratch, compiler: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    if !have(compiler) || !have("addr2line") {
        return None;
    }
    let suffix = if compiler.ends_with("++") { "cc" } else { "c" };
    let suffix = if source == ASSEMBLY { "s" } else { suffix };
    let input = scratch.path(&format!("program.{suffix}"));
    let output = scratch.path(&format!("{compiler}{}", flags.concat().replace('/', "_")));
    std::fs::write(&input, source).unwrap();
    let mut arguments = flags.to_vec();
    arguments.extend(["-o", output.to_str().unwrap(), input.to_str().unwrap()]);
    run(compiler, &arguments).then_some(output)
}
